"""Modelling framework: fields, states, sorts, actions, transition systems.

Nothing here knows Kafka.
"""
