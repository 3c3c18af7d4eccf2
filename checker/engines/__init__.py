"""Who explores: this process's memory, threads over files, or Spark."""
