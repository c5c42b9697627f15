"""The commands of `calibrant`, one function each."""

import click

from calibrant import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def calibrant() -> None:
    """Can these probabilities be trusted?"""


@calibrant.command()
def config() -> None:
    """Show how calibrant was built and what it uses on this machine."""
    from calibrant.config import show_config

    show_config()
