"""What brokers wrote to their logs, and behaviours of the model that fit it."""
