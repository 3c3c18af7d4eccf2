"""Problems: a model, its claims, symmetry and bounds."""
