"""Why a trace ends as it does: which of its steps it takes, and which single change repairs it."""
