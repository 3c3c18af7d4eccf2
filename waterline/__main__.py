"""`python -m waterline`, and the file to hand to spark-submit: both run the command `check`."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # Python looks first in the working folder, where anything may lie, or under spark-submit in
    # this file's folder, which has our modules by other names.
    places = sys.path if sys.flags.safe_path else sys.path[1:]
    sys.path[:] = [str(Path(__file__).parents[1]), *places]
    from waterline.checker.cli.cli import check_main

    check_main()
