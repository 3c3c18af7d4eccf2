"""Graph of all states and steps, as arrays."""
