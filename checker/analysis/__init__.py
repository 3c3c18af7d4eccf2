"""What is done with a trace or a model: explain, compare, simulate, export."""
