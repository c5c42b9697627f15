"""Results as Prometheus text and as attributes."""

from __future__ import annotations

import functools
import math
import re

import numpy as np
import pytest
from test_bad_input import ROWS, is_called, outcome

import calibrant
from bad_input_rows import ACCUMULATORS, MAKERS
from calibrant import streaming
from calibrant.drift import drift, drift_by_window
from calibrant.streaming import Grouped, Scores, Windowed
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
    assert text == "" or text.endswith("\n")
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            current = line.split()[2]
            assert current not in seen
            seen.add(current)
            continue
        name, labels, number = LINE.fullmatch(line).groups()
        assert name == current
        assert (name, labels or "") not in found
        assert re.fullmatch(r"[+-]Inf|NaN|[-+.\de]+", number)
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


def check(result):
    """Render it both ways; return the samples."""
    found = attributes(result)
    assert all(type(value) in (int, float, str, bool) for value in found.values())
    assert all(isinstance(name, str) and ".." not in name for name in found)
    numbers = samples(prometheus_text(result))
    assert len(numbers) == sum(not isinstance(value, str) for value in found.values())
    return numbers


@pytest.mark.filterwarnings("ignore:.* bins are too many for .* rows")
@pytest.mark.parametrize("key", [key for key in ROWS if is_called(key)])
def test_what_every_public_function_returns(key):
    result, _ = outcome(key)
    if hasattr(result, "to_dict"):
        check(result)


@pytest.mark.filterwarnings("ignore:.* bins are too many for .* rows")
@pytest.mark.parametrize("name", ACCUMULATORS)
def test_every_accumulator(name):
    made = MAKERS[name]()
    if hasattr(made, "to_dict"):
        assert check(made)
    if hasattr(made, "result"):
        assert check(made.result())


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(3)
    p = rng.random(120)
    return (rng.random(120) < p).astype(int), p, np.arange(120)


def test_groups_are_told_by_a_label(stream):
    y, p, t = stream
    keys = ["a b", "a_b", 'q"\\\n']  # two of them alike as names
    groups = Grouped(Scores)
    groups.update(y, p, groups=[keys[i % 3] for i in t.tolist()])
    found, results = check(groups), check(groups.result())
    for key, label in zip(keys, ["a b", "a_b", r"q\"\\\n"], strict=True):
        expected = groups[key].result()
        assert found["calibrant_result_brier", f'group="{label}"'] == expected.brier
        assert found["calibrant_n", f'group="{label}"'] == 40
        assert results["calibrant_brier", f'group="{label}"'] == expected.brier
    assert found["calibrant_n", ""] == 120
    assert attributes(groups)["calibrant.result.a b.n"] == 40


def test_windows_are_told_by_their_start(stream):
    y, p, t = stream
    windows = Windowed(functools.partial(Grouped, Scores), every=60)
    windows.update(y, p, groups=t % 2, timestamps=t)
    expected = windows.windows()[1].accumulator[1].result().brier
    for found in (check(windows), check(windows.result())):
        assert found["calibrant_result_brier", 'start="60",group="1"'] == expected
    assert check(windows.current())["calibrant_result_brier", 'group="1"'] == expected
    assert check(Windowed(Scores, every=60).result()) == {}
    dates = Windowed(Scores, every=np.timedelta64(1, "m"))
    dates.update(y, p, timestamps=t.astype("datetime64[s]"))
    assert check(dates)["calibrant_n", 'start="1970-01-01T00:01:00.000000"'] == 60


def test_drift_is_told_by_window_and_name(stream):
    y, p, t = stream
    windows = Windowed(streaming.Scorecard, every=np.timedelta64(1, "m"))
    windows.update(y, p, timestamps=t.astype("datetime64[s]"))
    one, both = drift(*windows.windows()), drift_by_window(windows.total(), windows)
    assert check(one)["calibrant_changes_pvalue", 'name="brier"'] == one["brier"].pvalue
    at = 'start="1970-01-01T00:01:00.000000",name="brier"'
    assert check(both)["calibrant_changes_pvalue", at] == both.drifts[1]["brier"].pvalue
    assert attributes(one)["calibrant.changes.brier.pvalue"] == one["brier"].pvalue


def test_parts_of_other_lists(stream):
    y, p, _ = stream
    found = check(calibrant.compare(y, {"a b": p, "a_b": 1 - p}))
    assert found["calibrant_scorecards_brier_value", 'model="a b"'] == calibrant.brier_score(y, p)
    assert ("calibrant_differences_pvalue", 'first="a b",second="a_b",score="log"') in found
    intervals = calibrant.interval_summary(
        [0.5, 2.0], [[[0, 1], [0, 3]]] * 2, confidence_level=(0.5, 0.9)
    )
    coverage = intervals.levels[1].coverage.value
    assert check(intervals)["calibrant_levels_coverage_value", 'confidence_level="0.9"'] == coverage
    card = calibrant.scorecard([0, 1, 2], [[0.5, 0.25, 0.25]] * 3)
    assert check(card)["calibrant_class_frequencies_value", 'index="2"'] == pytest.approx(1 / 3)
    lists = {"levels": [{"levels": [{"a": 1}, {"a": 2}]}]}
    assert check(lists)["calibrant_levels_levels_a", 'index="0",levels_index="1"'] == 2.0


def test_numbers_of_numpy_and_results_in_dicts():
    scores = streaming.Scores()
    scores.update([1, 0], [0.75, 0.5])
    scores = scores.result()
    view = {
        "a": np.float64(0.5),
        "n": np.int64(3),
        "yes": np.True_,
        "in": {"of": scores},
        "x": None,
    }
    assert check(view) == {
        ("calibrant_a", ""): 0.5, ("calibrant_n", ""): 3.0, ("calibrant_yes", ""): 1.0,
        **{(f"calibrant_in_of_{name}", ""): getattr(scores, name) for name in scores.to_dict()},
    }  # fmt: skip


def test_two_numbers_of_one_name_are_rejected():
    with pytest.raises(ValueError, match="two numbers that would be calibrant_a_b: rename one"):
        prometheus_text({"a b": 1.0, "a_b": 2.0})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"labels": {"a-b": "x"}}, ValueError, "'a-b' is not a name"),
        ({"labels": {"__a": "x"}}, ValueError, "'__a' is not a name"),
        ({"labels": {"group": "x"}}, ValueError, "labels: 'group' is what tells parts"),
        ({"prefix": "9"}, ValueError, "prefix '9'"),
    ],
)
def test_names_that_prometheus_does_not_take(card, arguments, error, message):
    with pytest.raises(error, match=message):
        prometheus_text(card, **arguments)


def test_what_is_no_result():
    with pytest.raises(TypeError, match="to_dict, got float"):
        attributes(1.0)


def test_prometheus_says_which_accuracy_is_meant():
    card = calibrant.scorecard([1, 0, 1], [0.75, 0.5, 0.5])
    lines = prometheus_text(card).splitlines()
    for name in ("value", "low", "high"):
        about = f"# HELP calibrant_accuracy_{name} geometric mean (Nelson's accuracy)"
        assert lines[lines.index(about) + 1] == f"# TYPE calibrant_accuracy_{name} gauge"
