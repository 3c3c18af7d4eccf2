"""What a release of Kafka changed in the methods that our rules cite; `lab.bench.rules_of` asks."""
