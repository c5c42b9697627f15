"""The commands of `calibrant`, one function each."""

import click

from calibrant import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def calibrant() -> None:
    """Can these probabilities be trusted?"""
