"""Where states are kept: tables in memory, sorted runs in files, the directory of a run."""
