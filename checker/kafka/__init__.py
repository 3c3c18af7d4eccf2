"""Kafka: families of models, narratives, scenarios, matrix, real brokers."""
