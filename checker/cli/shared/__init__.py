"""Shared parts of all commands: options, the screen, progress, errors in one line, exit codes."""
