"""Claims about behaviours, judged by tasks over files: nobody holds the whole graph."""
