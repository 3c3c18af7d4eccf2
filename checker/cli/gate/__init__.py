"""`waterline gate`, and the pytest plugin."""
