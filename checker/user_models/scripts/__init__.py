"""Scripts: steps through a model, and expectations about its states."""
