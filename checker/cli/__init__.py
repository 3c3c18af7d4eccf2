"""The command line: commands, options, progress and exit codes."""
