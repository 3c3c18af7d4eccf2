"""An explicit-state model checker: search, engines, storage, traces and reports."""
