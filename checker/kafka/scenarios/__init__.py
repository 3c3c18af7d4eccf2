"""Catalogue of known failures of Kafka's replication, each entry runnable."""
