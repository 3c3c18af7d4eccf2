"""Kafka's own protocol as TLA+ modules."""
