"""The laboratory: it tries and measures the product, and is not in the wheel."""
