"""Questions of one's own about a model: a condition at the prompt, or none at all."""
