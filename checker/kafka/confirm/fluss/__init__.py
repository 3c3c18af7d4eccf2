"""Tablet servers of a released Apache Fluss, made of its unchanged classes, steered step by step.

The harness is the coordinator, the network and the timers. Each tablet server is a JVM of its own,
so that a crash is kill -9.
"""
