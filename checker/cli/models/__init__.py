"""`waterline new`, `versions`, `layout` and `kernel`: a model begun, and looked into."""
