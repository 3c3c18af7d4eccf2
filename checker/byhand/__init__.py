"""A model stepped through by hand: what is offered, what is chosen, what is expected of it."""
