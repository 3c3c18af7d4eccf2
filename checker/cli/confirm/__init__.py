"""`waterline confirm`, `confirm-catalogue` and `conform`: real brokers."""
