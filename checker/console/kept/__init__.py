"""What is kept on disk: `--run-dir`, `waterline states` and `waterline cache`."""
