"""``python -m calibrant.compat script.py``: run a script with the peers' functions swapped.

At its end a table on the standard error says what was called, and how much time was gained.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from calibrant.compat._patch import patch, report


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m calibrant.compat",
        description="Run a script with functions of MAPIE and scikit-learn swapped for calibrant's,"
        " and report what was called and how much time was gained.",
    )
    parser.add_argument(
        "--only-ours",
        action="store_true",
        help="do not run the peers' functions to compare with; the script is then as fast as it"
        " gets",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="script is a module's name")
    parser.add_argument("script", help="a file, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    options = parser.parse_args(argv)
    patched = patch(compare=not options.only_ours)
    argv_before, path_before = sys.argv, list(sys.path)
    sys.argv = [options.script, *options.arguments]
    try:
        with patched:
            if options.module:
                sys.path.insert(0, str(Path.cwd()))
                runpy.run_module(options.script, run_name="__main__", alter_sys=True)
            else:
                sys.path.insert(0, str(Path(options.script).resolve().parent))
                runpy.run_path(options.script, run_name="__main__")
    finally:
        sys.argv, sys.path[:] = argv_before, path_before
        sys.stderr.write("\n".join(["", *report(patched), ""]))


if __name__ == "__main__":
    main()
