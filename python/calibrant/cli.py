"""The entry of the command line: `calibrant` and `python -m calibrant`.

The commands themselves are in `_commands`, the only module that needs click.
"""

import sys
from collections.abc import Sequence


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line, with `sys.argv` unless `args` are given; always exits."""
    try:
        import click  # noqa: F401
    except ModuleNotFoundError:
        print('calibrant: the command line needs: pip install "calibrant[cli]"', file=sys.stderr)
        sys.exit(2)
    from calibrant._commands import calibrant

    calibrant(args, prog_name="calibrant")
