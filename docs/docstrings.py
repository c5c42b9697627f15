"""Docstrings are written as numpydoc has it; here they become the Markdown that MkDocs reads."""

from __future__ import annotations

import re

import griffe

BLOCK = re.compile(r"^( *)\.\. math:: *(.*\n(?:\1 +\S.*\n?)*)", re.MULTILINE)
WARNING = re.compile(r"^( *)\.\. warning:: *(.*\n(?:\1 +\S.*\n?)*)", re.MULTILINE)
INLINE = re.compile(r":math:`([^`]+)`")
CITED = re.compile(r"\[(\d)\]_")
SOURCE = re.compile(r"^( *)\.\. \[(\d)\] ", re.MULTILINE)


class MarkdownDocstrings(griffe.Extension):
    """Formulas between dollars; sources as a list."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    text = BLOCK.sub(lambda found: f"\n{found[1]}$${one_line(found[2])}$$\n\n", f"{text}\n")
    text = WARNING.sub(lambda found: f"{found[1]}!!! warning\n\n    {one_line(found[2])}\n\n", text)
    text = INLINE.sub(r"$\1$", text)
    text = CITED.sub(r"[\1]", text)
    return SOURCE.sub(r"\n\1[\2] ", text).rstrip()


def one_line(text: str) -> str:
    return " ".join(text.split())
