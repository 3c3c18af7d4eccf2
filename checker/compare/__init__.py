"""A trace under two versions or settings, side by side: where the two part, and how each ends."""
