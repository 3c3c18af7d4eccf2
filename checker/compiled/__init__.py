"""From a model to machine code, and running it over blocks of states."""
