"""Models that users write, from a file to a problem: what `--model FILE` means."""
