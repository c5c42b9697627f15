"""What help() says: the first argument first, and the data by their own names."""

import inspect
import re

import pytest

from public_api import public_callables


def documented(thing):
    """The names under Parameters, in order."""
    text = inspect.getdoc(thing) or ""
    if "Parameters\n----------\n" not in text:
        return []
    body = text.split("Parameters\n----------\n")[1]
    body = re.split(r"\n\n[A-Z][\w ]+\n-{3,}", body)[0]
    heads = [line for line in body.splitlines() if line and not line.startswith(" ")]
    return [head.split(" : ")[0].split(", ") for head in heads]


@pytest.mark.parametrize("name", sorted(public_callables()))
def test_the_data_come_first(name):
    thing = public_callables()[name]
    heads = documented(thing)
    if not heads or inspect.isclass(thing) or name.startswith("compat."):
        return
    names = [p for p in inspect.signature(thing).parameters if p != "self"]
    assert heads[0][0].lstrip("*") == names[0]
    together = [head for head in heads if "y_proba" in head and len(head) > 2]
    assert not together
