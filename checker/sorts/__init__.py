"""Sort checking of rules: epochs and records are compared and copied, and nothing else."""
