"""Out-of-core liveness and recovery: tasks over files, no process holds the graph."""
