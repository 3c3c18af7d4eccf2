"""User models: `--model FILE`, from a file to a problem."""
