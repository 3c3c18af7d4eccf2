"""What is known to go wrong with Kafka's replication, as entries that can be run."""
