"""Deployed clusters: files, tools' output and live brokers, read into Kafka's settings."""
