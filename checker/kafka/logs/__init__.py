"""Logs of brokers and controllers, and behaviours of the model that fit them."""
