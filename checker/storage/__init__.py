"""Storage of states: hash tables in memory, sorted runs in files, run directories."""
