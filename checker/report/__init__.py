"""Pages, pictures and the terminal viewer."""
