"""Interactive stepping through a model: offers, choices, expectations."""
