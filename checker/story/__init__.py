"""What a trace is about: where each record goes, what breaks, who acts, and why a step matters."""
