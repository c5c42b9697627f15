"""The report: its sections, its page and its data."""

from __future__ import annotations

import json
import os
import re
import warnings
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import calibrant
import calibrant.comparison
from calibrant import streaming
from calibrant._result import printable
from calibrant.evidence import Evidence
from calibrant.plotting import PALETTES
from calibrant.report import SCHEMA, SECTIONS, Number, Report, Section, comparison, report
from calibrant.report._definitions import DEFINITIONS

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

HOSTILE = "<script>alert('x')</script> & \"$\\frac{\" \u202e"
NAMES = ["scorecard", "reliability", "assessment", "cumulative", "spectrum", "roc"]
VOID = {"meta", "link", "br", "hr", "img", "input"}
DOCS = Path(__file__).parents[2] / "docs"


def rows(n=3000, boldness=1.6, seed=11):
    rng = np.random.default_rng(seed)
    evidence = rng.normal(0, 2, n)
    y = rng.random(n) < 1 / (1 + np.exp(-evidence))
    return y.astype(int), 1 / (1 + np.exp(-boldness * evidence))


def classes(n=3000, k=4, seed=12):
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1, (n, k))
    truth = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    y = (truth.cumsum(1) < rng.random((n, 1))).sum(1).clip(0, k - 1)
    bold = np.exp(2 * logits)
    return y, bold / bold.sum(1, keepdims=True)


Y, P = rows()
GROUPS = np.array(["north", HOSTILE, "south"])[np.arange(len(Y)) % 3]


@pytest.fixture(scope="module")
def page():
    return report(Y, P, groups=GROUPS, title=HOSTILE)


@pytest.fixture(scope="module")
def html(page):
    return page.to_html()


@pytest.fixture
def undrawn(monkeypatch):
    """Pages without figures, which take nearly all of the time."""
    monkeypatch.setattr("calibrant.report._report.inline_svg", lambda _: "<svg></svg>")


class Elements(HTMLParser):
    """Collects elements, and demands that each is closed in turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.text = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def attributes(self, name):
        return [attrs[name] for _, attrs in self.found if name in attrs]

    def of(self, tag):
        return [attrs for name, attrs in self.found if name == tag]


# The page


def test_the_page_is_well_formed_and_has_all_sections(html):
    elements = Elements(html)
    ids = elements.attributes("id")
    assert len(ids) == len(set(ids))
    assert [attrs["id"] for attrs in elements.of("section")] == [
        *NAMES, "groups", "data", "definitions",
    ]  # fmt: skip
    assert len(elements.of("svg")) == 6
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in elements.of("svg"))


def test_every_link_has_its_end(html):
    elements = Elements(html)
    ids = set(elements.attributes("id"))
    hrefs = elements.attributes("href")
    assert "#def-accuracy" in hrefs
    assert {href for href in hrefs if href != "data:,"} <= {f"#{name}" for name in ids}
    referred = set(re.findall(r"url\(#([^)]+)\)", html))
    assert referred <= ids
    assert referred


def test_nothing_is_fetched_and_nothing_runs(html):
    elements = Elements(html)
    assert not elements.of("script")
    assert not elements.of("img")
    assert not elements.of("iframe")
    assert elements.of("link") == [{"rel": "icon", "href": "data:,"}]
    assert elements.attributes("src") == []
    assert not [name for _, attrs in elements.found for name in attrs if name.startswith("on")]
    assert "http:" not in html
    assert "https:" not in html
    assert "@import" not in html
    assert len(html.encode()) < 400_000


def test_names_are_text_and_nothing_else(html):
    elements = Elements(html)
    shown = "".join(elements.text)
    assert printable(HOSTILE) in shown
    assert "<script" not in html
    assert shown.count("<script>alert(") >= 3  # title, figure, table


def test_figures_follow_the_colours_of_the_page(html):
    drawn = "".join(re.findall(r"<svg.*?</svg>", html, re.DOTALL))
    assert not re.findall(r"#[0-9a-fA-F]{6}", drawn)
    used = set(re.findall(r"var\(--(\w+)\)", drawn))
    assert {"first", "second", "text", "muted", "grid", "neutral"} <= used
    assert used <= set(PALETTES["light"].to_dict())
    for theme in PALETTES.values():
        assert all(f"--{role}: {colour};" in html for role, colour in theme.to_dict().items())
    assert "font-family" not in drawn


def test_the_same_evidence_gives_the_same_text(html):
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 33, "axes.facecolor": "red", "svg.hashsalt": None}):
        assert report(Y, P, groups=GROUPS, title=HOSTILE).to_html() == html


def test_verdict_comes_first(page, html):
    assert html.index(page.verdict.headline) < html.index("<section")
    assert page.verdict.kind == "over-confident"
    size = r"events given [\d.]+ % happened [\d.]+ % of the time"
    assert re.fullmatch(f"These probabilities are over-confident: {size}\\.", page.verdict.headline)
    assert f"p = {calibrant.assess(Y, P).pvalue:.0e}" in page.verdict.sentence
    assert page.verdict.advice.startswith("Recalibrate")


# The numbers


def section_of(page, name):
    return next(section for section in page.sections if section.name == name)


def numbers(page, section):
    return {number.name: number for number in section_of(page, section).numbers}


def test_numbers_are_those_of_the_functions(page):
    card = calibrant.scorecard(Y, P, groups=GROUPS)
    for name, number in numbers(page, "scorecard").items():
        estimate = getattr(card, name)
        if number.method == "certified":  # the page's are those of a stream
            assert number.low <= estimate.value <= number.high
            continue
        if name == "auc":
            assert number.value == pytest.approx(estimate.value, abs=1e-3)
            continue
        assert (number.value, number.low, number.high) == (
            estimate.value, estimate.low, estimate.high,
        )  # fmt: skip
    whole = calibrant.assess(Y, P)
    found = numbers(page, "assessment")
    assert found["model_accuracy"].value == whole.model.accuracy
    assert found["angle"].low <= whole.angle <= found["angle"].high
    found = numbers(page, "cumulative")
    for name, test in (("ks", calibrant.ks_test), ("kuiper", calibrant.kuiper_test)):
        exact = test(Y, P)
        assert found[name].low <= exact.statistic <= found[name].high
        assert found[f"{name}_pvalue"].low <= exact.pvalue <= found[f"{name}_pvalue"].high
    found = numbers(page, "reliability")
    error = calibrant.expected_calibration_error(Y, P, strategy="quantile")
    assert found["equal_count_ece"].low <= error <= found["equal_count_ece"].high
    assert numbers(page, "roc")["auc"].value == pytest.approx(calibrant.roc_auc(Y, P), abs=1e-4)


def test_names_of_numbers_are_unique_and_explained(page):
    for section in page.sections:
        names = [number.name for number in section.numbers]
        assert len(names) == len(set(names))
        assert section.explanation
        assert section.definition
        for number in section.numbers:
            assert number.explanation
            assert (number.definition or number.name) in DEFINITIONS


def test_documentation_pages_exist(page):
    assert all((DOCS / definition.page).is_file() for definition in DEFINITIONS.values())
    assert all((DOCS.parent / section.definition).is_file() for section in page.sections)


def test_groups_come_with_the_worst_first(page):
    section = next(s for s in page.sections if s.name == "groups")
    card = calibrant.scorecard(Y, P, groups=GROUPS)
    low = {str(key): part.ece.low for key, part in card.groups.items()}
    shown = [row[0] for row in section.tables[0].rows]
    assert shown == sorted(low, key=low.get, reverse=True)


def test_number_texts():
    assert Number("x", "x", 0.123456).text == "0.12346"
    assert Number("x", "x", -1.5).text == "\N{MINUS SIGN}1.50000"
    assert Number("x", "x", 1.5e-7).text == "1.5e\N{MINUS SIGN}07"
    assert Number("x", "x", float("inf")).text == "\N{INFINITY}"
    assert Number("x", "x", None, reason="because").text == "undefined"
    assert Number("x", "x", 12345, form="count").text == "12,345"
    assert Number("x", "x", 45.04, form="angle").text == "45.0\N{DEGREE SIGN}"
    assert Number("x", "x", 0.0, form="pvalue", log=-2302.585).text == "1e-1000"
    assert Number("x", "x", 0.5, 0.4, 0.6).interval == "0.40000 to 0.60000"
    assert Number("x", "x", 0.5, 0.5, 0.5 + 1e-9, "certified").interval == ""
    assert Number("x", "x", 0.5, 0.4, 0.6, "certified").interval == "surely 0.40000 to 0.60000"


# The data


def check_form(plain):
    assert plain["schema"] == SCHEMA == "calibrant.report/1"
    assert set(plain) == {
        "schema", "title", "verdict", "n", "n_omitted", "sections", "source", "calibrant",
    }  # fmt: skip
    assert set(plain["verdict"]) == {"kind", "headline", "sentence", "advice"}
    for section in plain["sections"]:
        assert set(section) == {
            "name", "title", "explanation", "definition", "numbers", "figures", "tables", "notes",
        }  # fmt: skip
        for number in section["numbers"]:
            assert set(number) == {
                "name", "label", "value", "low", "high", "method", "explanation", "reason",
            }  # fmt: skip


def test_the_data_are_the_content_of_the_page(page):
    plain = page.to_dict()
    check_form(plain)
    assert json.loads(page.to_json()) == plain
    figures = {name: data for s in plain["sections"] for name, data in s["figures"].items()}
    assert set(figures) == {
        "model-versus-source", "reliability", "cumulative-differences", "mean-spectrum", "roc",
        "groups",
    }  # fmt: skip
    assert len(figures["reliability"]["bins"]["value"]["counts"]) == 15
    assert figures["mean-spectrum"]["powers"][0] == -3
    assert len(figures["roc"]["thresholds"]) <= 400


def test_saved_at_once(page, html, tmp_path, monkeypatch):
    monkeypatch.setattr(Report, "to_html", lambda _: html)
    target = page.save(tmp_path / "report.html")
    assert target.read_text(encoding="utf-8") == html
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()
    assert json.loads(page.save(tmp_path / "report.json").read_text(encoding="utf-8"))["n"] == 3000
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "report.json"]


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_failed_save_leaves_what_was_there(page, tmp_path, monkeypatch):
    (tmp_path / "report.json").write_text("old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        page.save(tmp_path / "report.json")
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]
    assert (tmp_path / "report.json").read_text() == "old"
    with pytest.raises(FileNotFoundError):
        page.save(tmp_path / "nowhere" / "report.json")


@pytest.mark.usefixtures("undrawn")
def test_in_a_notebook(page):
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert "<script" not in frame
    assert page.verdict.headline in repr(page)


# Other evidence


def test_several_classes():
    y, p = classes()
    labels = np.array(["a", "b", "<b>", "d"])
    page = report(labels[y], p, labels=labels)
    assert [s.name for s in page.sections] == NAMES
    assert page.verdict.kind == "over-confident"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too many bins
        whole = calibrant.assess(y, p)
    angle = numbers(page, "assessment")["angle"]
    assert angle.low <= whole.angle <= angle.high
    assert angle.high - angle.low < 0.5
    words, _, size = whole.verdict.partition(": ")
    assert page.verdict.headline.startswith(f"These probabilities are {words}: top labels given ")
    assert size.partition(" (")[0] in page.verdict.headline
    text = "".join(Elements(page.to_html()).text)
    assert "probability of the top label" in text
    assert "a, b, <b>, d" in text


def test_several_classes_without_their_pairs():
    y, p = classes()
    evidence = gathered(y, p)
    page = Report.of(evidence)
    assert "assessment" not in [s.name for s in page.sections]
    assert page.verdict.kind == "over-confident"
    assert "Spiegelhalter" in page.verdict.sentence
    Elements(page.to_html())


def gathered(y, p, groups=None, **source):
    evidence = SimpleNamespace(
        scorecard=streaming.Scorecard(),
        table=streaming.ScoreTable(),
        spectrum=streaming.RiskProfile(powers=[-3, -1, 0.5, 2]),
        groups={},
        source=source,
    )
    for accumulator in (evidence.scorecard, evidence.table, evidence.spectrum):
        accumulator.update(y, p)
    for key in [] if groups is None else np.unique(groups):
        evidence.groups[key] = streaming.Scorecard()
        evidence.groups[key].update(y[groups == key], p[groups == key])
    return evidence


@pytest.mark.usefixtures("undrawn")
def test_what_it_was_made_from_is_recorded():
    source = {
        "files": [f"{HOSTILE}.parquet", "b.parquet"],
        "roles": {"label": "y", "prob": HOSTILE, "group": "region", "weight": None},
        "missing": {"y": 0, "p": 1234},
        "settings": {"n_bins": 15, "skip": True},
        "command": "calibrant report a.parquet",
        "odd": {"nested": {"deep": [1, 2], "empty": []}, "none": {"low": [], "high": None}},
    }
    page = Report.of(gathered(Y, P, GROUPS, **source), title="T")
    text = "".join(Elements(page.to_html()).text)
    for part in (
        "missing: p",
        "1,234",
        "calibrant report a.parquet",
        printable(HOSTILE),
        "Groups by region",
    ):
        assert part in text
    assert "roles: weight" not in text
    assert "odd: none" not in text
    assert "deep 1, 2" in text
    assert page.to_dict()["source"]["roles"]["prob"] == HOSTILE


DEGENERATE = {
    "one class": ([1, 1, 1, 1], [0.5, 0.6, 0.7, 0.8]),
    "certain and right": ([0, 1, 1, 0], [0.0, 1.0, 1.0, 0.0]),
    "certain and wrong": ([0, 1, 1, 0], [0.0, 1.0, 0.0, 1.0]),
    "one row": ([1], [0.5]),
    "two rows": ([0, 1], [0.3, 0.6]),
    "all equal": ([0, 1] * 50, [0.5] * 100),
    "all equal and wrong": ([0, 0, 0, 1] * 50, [0.5] * 200),
    "few and wrong": ([0] * 8, [0.75, 0.875] * 4),
    "all zero": ([0, 1], [0.0, 0.0]),
    "tiny": ([0, 0, 1], [5e-324, 1e-300, 1.0]),
    "columns": ([0, 1, 1], [[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]]),
    "one column of classes": ([0, 0], [[0.2, 0.8], [0.1, 0.9]]),
}


@pytest.mark.parametrize("kind", DEGENERATE)
def test_little_evidence_gives_a_report_all_the_same(kind):
    y, p = DEGENERATE[kind]
    page = report(y, p, groups=["a"] * len(y))
    html = page.to_html()
    Elements(html)
    check_form(json.loads(page.to_json()))
    assert not re.search(r"\bnan\b", html, re.IGNORECASE)
    for section in page.sections:
        for number in section.numbers:
            if number.text == "undefined":
                assert number.reason or section.notes, number
    assert page.verdict.sentence.endswith(".")


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("one row", "too few rows"),
        ("two rows", "too few rows"),
        ("certain and right", "too few rows"),
        ("all equal", "calibrated"),
        ("all equal and wrong", "miscalibrated"),
        ("few and wrong", "miscalibrated"),
    ],
)
def test_verdicts_of_little_evidence(kind, verdict):
    assert report(*DEGENERATE[kind]).verdict.kind == verdict


@pytest.mark.parametrize(
    ("boldness", "kind"),
    [(0.5, "under-confident"), (1, "calibrated"), (2, "over-confident")],
)
def test_verdicts(boldness, kind):
    assert report(*rows(20_000, boldness)).verdict.kind == kind


def test_scores_that_are_all_too_high_are_not_called_calibrated():
    rng = np.random.default_rng(1)
    p = rng.random(5_000)
    y = rng.random(5_000) < p**1.2
    assert calibrant.assess(y, p).verdict.startswith("too high: events given ")
    verdict = report(y, p).verdict
    assert verdict.kind == "miscalibrated"
    assert verdict.headline.startswith("These probabilities are too high: events given ")
    low = report(1 - y, 1 - p).verdict
    assert low.kind == "miscalibrated"
    assert low.headline.startswith("These probabilities are too low: events given ")


@pytest.mark.parametrize("make", [rows, classes])
def test_rows_without_a_group_are_in_no_part(make):
    y, p = make(1200)
    groups = np.array(["a", "b", None], object)[np.arange(1200) % 3]
    known = groups != None  # noqa: E711  element by element
    gather = ("spectrum", "assessment")
    some, all_rows = Evidence(gather=gather), Evidence(gather=gather)
    some.update(y[known], p[known])
    all_rows.update(y, p, groups=groups, nan_policy="omit")
    for part in ("scorecard", "spectrum", *(["assessment"] if p.ndim == 2 else [])):
        found, expected = getattr(all_rows, part), getattr(some, part)
        assert (found.n, found.n_omitted) == (800, 400)
        if part != "assessment":
            assert found.result().to_dict() | {"n_omitted": 0} == expected.result().to_dict()
        else:
            assert found.assess().model.accuracy == expected.assess().model.accuracy


def test_the_confidence_level_is_that_of_every_section():
    y, p = rows(1200)
    page = report(y, p, groups=np.arange(1200) % 3, confidence_level=0.8)
    figures = {figure.name: figure for section in page.sections for figure in section.figures}
    for name in ("reliability", "cumulative-differences", "roc"):
        assert figures[name].options["level"] == 0.8
    curve = figures["roc"].display.result
    label = figures["roc"].display.plot(**figures["roc"].options).line_.get_label()
    assert label.endswith(f" {1.2815515655 * curve.auc_standard_error:.2g}")
    texts = " ".join(section.explanation for section in page.sections)
    assert "80%" in texts
    assert "95" not in texts
    for number in page.sections[0].numbers:
        if number.name == "auc":
            assert number.high - number.low == pytest.approx(
                2 * 1.2815515655 * curve.auc_standard_error, rel=0.05
            )


def test_why_there_is_no_roc_curve():
    section = next(s for s in report([1, 1], [0.5, 0.75]).sections if s.name == "roc")
    assert section.figures == ()
    assert "it needs positives and negatives" in section.notes[0]


def test_no_rows():
    with pytest.raises(ValueError, match="at least one row"):
        report([], [])


@pytest.mark.usefixtures("undrawn")
def test_missing_rows_are_counted():
    p = P.copy()
    p[:7] = np.nan
    page = report(Y, p, nan_policy="omit")
    assert (page.n, page.n_omitted) == (2993, 7)
    assert "7 left out for missing values" in page.to_html()
    with pytest.raises(ValueError, match="y_proba"):
        report(Y, p)


def test_many_groups_stay_small():
    page = report(Y, P, groups=[f"group {i % 300}" for i in range(len(Y))])
    section = next(s for s in page.sections if s.name == "groups")
    assert len(section.tables[0].rows) == 50
    assert section.tables[0].note == "250 more groups, none worse than these."
    assert len(page.to_html()) < 400_000


@pytest.mark.usefixtures("undrawn")
def test_a_concept_can_add_its_section(monkeypatch):
    def ranks(view):
        return Section("ranks", "Ranks", "Of draws.", (Number("n", "rows", view.card.n),))

    monkeypatch.setattr("calibrant.report._report.SECTIONS", [*SECTIONS, ranks])
    page = report(Y, P)
    assert page.sections[-1].name == "ranks"
    assert '<section id="ranks"' in page.to_html()


def test_without_the_extra(monkeypatch):
    import sys

    page = report(Y, P)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[report\]"'):
        page.to_html()


# Prediction intervals


def interval_rows(n=2000, stretch=1.0):
    rng = np.random.default_rng(7)
    scale = rng.gamma(2, 1, n)
    y = rng.normal(0, scale)
    quantiles = [1.2815515655446004, 1.959963984540054]
    bounds = np.stack([np.stack([-q * scale, q * scale], 1) for q in quantiles], 2) * stretch
    return y, bounds


def with_intervals(**options):
    accumulator = streaming.Intervals((0.8, 0.95), width_edges=[2, 4, 8])
    accumulator.update(*interval_rows(**options))
    return accumulator


@pytest.mark.parametrize(
    ("scales", "kind", "headline"),
    [
        ((1.0, 1.0, 1.3), "over-covering", "These intervals are too wide at the level 95%."),
        ((0.7, 0.7, 1.0), "under-covering", "These intervals are too narrow at the levels 50%"),
        ((0.7, 1.0, 1.5), "miscalibrated", "These intervals are too narrow at some levels"),
    ],
)  # fmt: skip
def test_headline_names_the_levels_that_are_off(scales, kind, headline):
    rng = np.random.default_rng(2)
    half = np.array([0.6745, 1.2816, 1.9600]) * scales
    bounds = np.broadcast_to(np.stack([-half, half]), (4000, 2, 3))
    assert_headline(rng.standard_normal(4000), bounds, (0.5, 0.8, 0.95), kind, headline)


def test_headline_on_one_row():
    bounds = np.array([[-1.0, 1.0]])
    assert_headline([0.0], bounds, (0.5,), "undefined", "There are too few rows to tell")


def assert_headline(y, bounds, levels, kind, headline):
    evidence = only_intervals()
    evidence.intervals = streaming.Intervals(levels)
    evidence.intervals.update(y, bounds)
    verdict = Report.of(evidence).verdict
    assert verdict.kind == kind
    assert verdict.headline.startswith(headline)


def only_intervals(**options):
    return SimpleNamespace(
        scorecard=streaming.Scorecard(), table=None, spectrum=None, groups={},
        intervals=with_intervals(**options), source={"files": [HOSTILE]},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("stretch", "kind", "headline"),
    [
        (0.8, "under-covering", "These intervals are too narrow."),
        (1.0, "calibrated", "These intervals keep their promise."),
        (1.4, "over-covering", "These intervals are too wide."),
    ],
)
@pytest.mark.usefixtures("undrawn")
def test_intervals_alone(stretch, kind, headline):
    page = Report.of(only_intervals(stretch=stretch))
    assert [s.name for s in page.sections] == ["intervals", "by_width"]
    assert (page.verdict.kind, page.verdict.headline) == (kind, headline)
    assert page.n == 2000
    assert "Brier" not in page.to_html()
    check_form(json.loads(page.to_json()))


def test_intervals_beside_probabilities():
    evidence = gathered(Y, P)
    evidence.intervals = with_intervals()
    page = Report.of(evidence)
    assert [s.name for s in page.sections] == [*NAMES, "intervals", "by_width"]
    assert page.verdict.kind == "over-confident"
    summary = evidence.intervals.result()
    found = numbers(page, "intervals")
    assert found["coverage_0.8"].value == summary[0].coverage.value
    worst = numbers(page, "by_width")["size_stratified_coverage_0.95"]
    assert worst.value == summary[1].by_width.worst.coverage
    # Groups by edges are named by the widths that are in them.
    _, bounds = interval_rows()
    html = page.to_html()
    widths = np.sort(bounds[:, 1, 1] - bounds[:, 0, 1])
    for below, above in ((0, 2), (2, 4), (4, 8), (8, np.inf)):
        group = widths[(below <= widths) & (widths < above)]
        assert f"{group[0]:.4g} to {group[-1]:.4g}  ({len(group):,})" in html
    elements = Elements(html)
    assert len(elements.of("svg")) == 5 + 1 + 2
    ids = elements.attributes("id")
    assert len(ids) == len(set(ids))


def with_hsic(n=2000, **options):
    """Evidence of the rows of `with_intervals`, or the first of them."""
    y, bounds = interval_rows()
    evidence = Evidence(levels=(0.8, 0.95), hsic_bandwidth=2.0, width_edges=[2, 4, 8])
    evidence.update(y[:n], intervals=bounds[:n], **options)
    return evidence


def test_hsic():
    found = numbers(Report.of(with_hsic()), "hsic")
    expected = calibrant.coverage_hsic(*interval_rows(), bandwidths=(2.0, 1.0))
    assert [found[f"hsic_{level}"].value for level in (0.8, 0.95)] == list(expected.hsic)
    assert "bandwidth of the widths 2" in found["hsic_0.8"].explanation


def test_hsic_that_says_nothing():
    found = numbers(Report.of(with_hsic(3)), "hsic")
    assert (found["hsic_0.95"].text, found["hsic_0.95"].reason) == ("undefined", "all covered")
    (note,) = section_of(Report.of(with_hsic(1)), "hsic").notes
    assert "at least 2 rows" in note
    (note,) = section_of(Report.of(with_hsic(sample_weight=np.ones(2000))), "hsic").notes
    assert note == "It is left out: rows have weights, and HSIC takes none."


# Comparisons


MODELS = {"bold": P, HOSTILE: rows(boldness=1)[1], "shy": rows(boldness=0.5)[1]}


def test_comparison_of_two():
    page = comparison(Y, {name: MODELS[name] for name in ("bold", "shy")})
    assert (
        page.verdict.headline
        == calibrant.comparison.compare(
            Y, {name: MODELS[name] for name in ("bold", "shy")}
        ).verdicts()[0]
    )
    assert page.verdict.sentence == ""
    assert [s.name for s in page.sections] == [
        "differences", "scorecards", "reliability", "cumulative", "spectrum", "roc",
    ]  # fmt: skip


def test_comparison_of_three():
    page = comparison(Y, MODELS)
    assert page.verdict.headline == f"{HOSTILE} wins 6 of its 8 comparisons."
    html = page.to_html()
    elements = Elements(html)
    assert "<script" not in html
    assert len(elements.of("svg")) == 4
    assert not re.findall(r"#[0-9a-fA-F]{6}", "".join(re.findall(r"<svg.*?</svg>", html, re.S)))
    plain = json.loads(page.to_json())
    check_form(plain)
    shown = next(s for s in plain["sections"] if s["name"] == "differences")["tables"]
    assert len(shown["differences"]) == 3 * 4
    spectra = next(s for s in plain["sections"] if s["name"] == "spectrum")["figures"]
    assert list(spectra["mean-spectrum"]) == list(MODELS)


def test_comparison_leaves_the_same_rows_out():
    gaps = P.copy()
    gaps[:10] = np.nan
    page = comparison(Y, {"a": P, "b": gaps}, nan_policy="omit")
    assert (page.n, page.n_omitted) == (2990, 10)
    reliability = next(s for s in page.to_dict()["sections"] if s["name"] == "reliability")
    bins = reliability["figures"]["reliability"]
    assert bins["a"] == bins["b"]


@pytest.mark.usefixtures("undrawn")
def test_comparison_without_a_curve():
    page = comparison([1, 1, 1], {"a": [0.5, 0.6, 0.7], "b": [0.7, 0.6, 0.5]})
    assert "it needs positives and negatives" in page.sections[-1].notes[0]
    Elements(page.to_html())
