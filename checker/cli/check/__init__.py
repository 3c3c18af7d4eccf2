"""`waterline check` and `tour`: a run, and its report for people and for programs."""
