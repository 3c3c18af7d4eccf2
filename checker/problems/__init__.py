"""What is asked of the checker: a problem of some family of models, and the words for it."""
