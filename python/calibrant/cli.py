"""The entry of the command line: `calibrant` and `python -m calibrant`.

The commands themselves are in `calibrant.commands`, the only modules that need click and rich.
"""

import sys
from collections.abc import Sequence


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line, with `sys.argv` unless `args` are given; always exits."""
    try:
        import click  # noqa: F401
        import rich  # noqa: F401
    except ModuleNotFoundError:
        print('calibrant: the command line needs: pip install ".[cli]"', file=sys.stderr)
        sys.exit(2)
    from calibrant.commands import calibrant

    calibrant(args, prog_name="calibrant")
