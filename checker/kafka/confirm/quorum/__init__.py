"""A scripted KRaft controller for unchanged brokers.

Messages by the definitions of the release's own jars, a metadata log, and a quorum of one that
grants, refuses, holds and loses what brokers ask.
"""
