"""Claims about whole behaviours, judged of the explored graph: recovery, and liveness."""
