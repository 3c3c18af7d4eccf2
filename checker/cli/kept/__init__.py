"""Commands about files on disk: `--run-dir`, `waterline states`, `waterline cache`."""
