"""Results as Prometheus text and as attributes."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import calibrant
from calibrant import streaming
from calibrant.telemetry import attributes, prometheus_text

LINE = re.compile(
    r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)'
)


@pytest.fixture(scope="module")
def card():
    rng = np.random.default_rng(7)
    p = rng.random(200)
    return calibrant.scorecard(
        rng.random(200) < p, p, groups=np.array(["a", 'b"\\\n'])[rng.integers(0, 2, 200)]
    )


def samples(text):
    """Read the format: names, labels and numbers, each name in one piece after its type."""
    found, current, seen = {}, None, set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            current = line.split()[2]
            assert current not in seen
            seen.add(current)
            continue
        name, labels, number = LINE.fullmatch(line).groups()
        assert name == current
        found[name, labels or ""] = float(number)
    return found


def test_every_number_is_there(card):
    found = samples(prometheus_text(card))
    assert found["calibrant_brier_value", ""] == card.brier.value
    assert found["calibrant_auc_low", ""] == card.auc.low
    assert found["calibrant_n", ""] == 200
    assert found["calibrant_brier_value", 'group="a"'] == card.groups["a"].brier.value
    assert found["calibrant_ece_value", r'group="b\"\\\n"'] == card.groups['b"\\\n'].ece.value
    assert not any(math.isnan(value) for value in found.values())


def test_labels_and_prefix(card):
    found = samples(prometheus_text(card, prefix="job", labels={"model": "rain"}))
    assert ("job_n", 'model="rain"') in found
    assert ("job_brier_value", 'model="rain",group="a"') in found


def test_accumulators_and_dicts():
    scores = streaming.Scores()
    scores.update([1, 0], [0.75, 0.5])
    found = samples(prometheus_text(scores))
    assert found["calibrant_result_brier", ""] == scores.result().brier
    text = prometheus_text(
        {"a b": math.inf, "c": -math.inf, "nan": math.nan, "yes": True, "s": "x"}
    )
    assert samples(text) == {
        ("calibrant_a_b", ""): math.inf, ("calibrant_c", ""): -math.inf, ("calibrant_yes", ""): 1.0,
    }  # fmt: skip


def test_attributes_are_plain(card):
    found = attributes(card, prefix="eval")
    assert found["eval.brier.value"] == card.brier.value
    assert found["eval.brier.method"] == card.brier.method
    assert found["eval.groups.a.n"] == card.groups["a"].n
    assert all(type(value) in (int, float, str, bool) for value in found.values())
    assert "" not in found.values()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"labels": {"a-b": "x"}}, ValueError, "'a-b' is not a name"),
        ({"prefix": "9"}, ValueError, "prefix '9'"),
    ],
)
def test_names_that_prometheus_does_not_take(card, arguments, error, message):
    with pytest.raises(error, match=message):
        prometheus_text(card, **arguments)


def test_what_is_no_result():
    with pytest.raises(TypeError, match="to_dict, got float"):
        attributes(1.0)
