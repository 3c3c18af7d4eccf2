"""What all commands share: options, the screen, progress, errors in one line, exit codes."""
