"""A cluster as it is now: states that look like it, further faults, and restarts."""
