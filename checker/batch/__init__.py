"""Many questions about problems, answered in this process, in threads, in processes or on Spark."""
