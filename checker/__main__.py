"""`python -m checker`, and the file to hand to spark-submit: both run the command `check`."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # spark-submit puts this file's folder on the path, and in it our modules by other names.
    here = str(Path(__file__).parent)
    sys.path[:] = [str(Path(here).parent), *(entry for entry in sys.path if entry != here)]
    from checker.cli.cli import check_main

    check_main()
