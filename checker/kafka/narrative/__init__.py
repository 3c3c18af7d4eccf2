"""Narrative of a trace in Kafka's words: records, brokers, violations, reasons."""
