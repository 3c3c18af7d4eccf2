"""TLA+ modules of models, for TLC and for readers: each rule as an operator."""
