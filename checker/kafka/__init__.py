"""What the checker is told of Kafka: its families of models, and the words for them."""
