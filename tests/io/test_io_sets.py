"""Prediction sets in tables: every form of them, read, split and reported."""

from __future__ import annotations

import json

import numpy as np
import pytest

import calibrant
from calibrant.evidence import Evidence
from calibrant.io import scan

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pq = pytest.importorskip("pyarrow.parquet")

N, CLASSES = 600, ("ant", "bee", "cat")


def rows():
    rng = np.random.default_rng(31)
    return rng.integers(0, 3, N), rng.random((N, 3)) < 0.6, rng.dirichlet([1, 1, 1], N)


Y, HELD, P = rows()
CODES = [np.flatnonzero(row).tolist() for row in HELD]
NAMES = [[CLASSES[c] for c in row] for row in CODES]
MASKS = (HELD * 2 ** np.arange(3)).sum(1)
Y_NAMES = [CLASSES[y] for y in Y]
PROBS = {f"p_{name}": P[:, c] for c, name in enumerate(CLASSES)}


def counted():
    """By size: rows, and rows whose set holds the class, counted from the definition."""
    sizes = {}
    for y, held in zip(Y.tolist(), CODES, strict=True):
        of_size = sizes.setdefault(len(held), [0, 0])
        of_size[0] += 1
        of_size[1] += y in held
    return dict(sorted(sizes.items()))


def assert_counted(summary):
    expected = counted()
    groups = summary.by_size.groups
    assert {int(g.least): g.weight for g in groups} == {s: n for s, (n, _) in expected.items()}
    for group, (n, covered) in zip(groups, expected.values(), strict=True):
        assert group.coverage == pytest.approx(covered / n, rel=1e-15)
    assert float(summary.coverage) == sum(covered for _, covered in expected.values()) / N
    assert summary.size.empty == expected[0][0] / N


@pytest.mark.parametrize(
    ("table", "roles"),
    [
        (pa.table({"y": Y, "set": CODES}), {}),
        (pa.table({"y": Y, "held": pa.array(CODES, pa.large_list(pa.int8()))}), {"sets": "held"}),
        (pa.table({"y": Y_NAMES, "set": NAMES}), {}),
        (pa.table({"kind": Y_NAMES, "set": NAMES, **PROBS}), {"label": "kind"}),
        (pa.table({"kind": Y_NAMES, "m": MASKS, **PROBS}), {"label": "kind", "sets": "m"}),
        (pa.table({"y": Y, "m": MASKS}), {"label": "y", "sets": "m"}),
        ({"y": Y, "m": MASKS.astype(np.uint8)}, {"sets": "m"}),
        ({"y": Y, "held": HELD}, {"sets": "held"}),
        (pd.DataFrame({"y": Y, "held": CODES}), {"sets": "held"}),
        (pd.DataFrame({"y": Y, "m": MASKS}), {"sets": "m"}),
        (pl.DataFrame({"y": Y_NAMES, "prediction_set": NAMES}), {}),
    ],
    ids=[
        "codes", "large lists", "names", "names and probabilities", "bits and probabilities",
        "bits", "bits of NumPy", "truth values", "pandas", "pandas bits", "polars",
    ],
)  # fmt: skip
def test_every_form(table, roles):
    evidence = Evidence.of(table, **roles)
    assert_counted(evidence.sets.result())
    assert evidence.n == N


def test_fixed_lists():
    """All of one size: there is one group, and a note."""
    pairs = [[y, (y + 1 + (i % 2)) % 3] for i, y in enumerate(Y.tolist())]
    table = pa.table({"y": (Y + 1) % 3, "set": pa.array(pairs, pa.list_(pa.int64(), 2))})
    summary = Evidence.of(table).sets.result()
    assert (float(summary.coverage), float(summary.size)) == (0.5, 2.0)
    assert "equal" in summary.by_size.note


def test_parts_of_files_batches_and_bytes(tmp_path):
    table = pa.table({"y": Y, "set": CODES, "w": np.arange(N) % 3})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=77)
    whole = Evidence.of(tmp_path / "t.parquet")
    expected = calibrant.set_summary(Y, CODES, sample_weight=np.arange(N) % 3)
    assert whole.sets.result().to_dict() == expected.to_dict()
    total = whole.empty()
    for part in np.array_split(np.random.default_rng(2).permutation(N), 7):
        total.update(Y[part], sets=[CODES[i] for i in part], sample_weight=part % 3)
    assert total.sets == whole.sets
    assert Evidence.from_bytes(whole.to_bytes()) == whole
    with pytest.raises(ValueError, match="only one of the two has gathered the sets"):
        whole.merge(Evidence(gather=()))


@pytest.mark.parametrize("sets", [CODES, MASKS.tolist()], ids=["lists", "bits"])
@pytest.mark.parametrize("make", [pa.table, pd.DataFrame], ids=["arrow", "pandas"])
def test_missing_sets(sets, make):
    gaps = [None if i % 10 == 0 else row for i, row in enumerate(sets)]
    if make is pd.DataFrame and isinstance(gaps[1], int):
        gaps = pd.array(gaps, "Int64")
    table = make({"y": Y, "held": gaps})
    roles = {"label": "y", "sets": "held"}
    with pytest.raises(ValueError, match="missing values: 60 in 'held'"):
        Evidence.of(table, **roles)
    found = Evidence.of(table, missing="skip", **roles)
    assert (found.n, found.n_omitted, found.source["missing"]["held"]) == (540, 60, 60)
    kept = np.arange(N) % 10 != 0
    expected = HELD[np.arange(N), Y][kept].mean()
    assert float(found.sets.result().coverage) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("columns", "roles", "kind", "message"),
    [
        ({"s": ["a", "b"]}, {"sets": "s"}, TypeError, "must hold prediction sets: lists of"),
        ({"s": [0.5, 1.0]}, {"sets": "s"}, TypeError, "it holds float values"),
        ({"s": [1, -1]}, {"sets": "s"}, ValueError, "column 's' must be .* found -1 at row 1"),
        ({"s": [[0], [1, None]]}, {"sets": "s"}, ValueError, "column 's' must not hold missing"),
        ({"s": [[0], [1]]}, {"sets": "set"}, ValueError, "no column 'set'; did you mean 's'?"),
    ],
)
def test_errors(columns, roles, kind, message, tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"y": [0, 1], **columns}), path)
    with pytest.raises(kind, match=message) as caught:
        Evidence.of(path, label="y", **roles)
    assert str(path) in str(caught.value)


def test_a_class_that_no_label_names():
    table = pa.table({"kind": ["ant", "bee"], "set": [["ant"], ["gnu"]], "p_ant": [0.5, 0.5],
                      "p_bee": [0.5, 0.5]})  # fmt: skip
    with pytest.raises(ValueError, match=r"column 'set' must hold .* found 'gnu' at row 1"):
        Evidence.of(table, label="kind")


def test_roles_are_told():
    found = scan(pa.table({"y": Y, "prediction_set": CODES}))
    assert found.notes()[-1] == "sets = prediction_set (guessed from its name)"
    assert found.roles.to_dict()["sets"] == "prediction_set"
    assert found.roles.prob == ()
    # A list named as probabilities are is none of sets.
    assert scan(pa.table({"y": Y, "probs": P.tolist()})).roles.sets is None


def test_commands(tmp_path, monkeypatch):
    click_testing = pytest.importorskip("click.testing")
    pytest.importorskip("jinja2")
    from calibrant.commands import calibrant as command

    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"y": Y, "held": CODES}), "t.parquet")

    def run(*args):
        done = click_testing.CliRunner().invoke(command, args)
        assert done.exit_code == 0, done.output
        return done.stdout

    expected = calibrant.set_summary(Y, CODES)
    shown = run("score", "t.parquet", "--set", "held")
    assert f"Prediction sets of {N} rows" in shown
    assert repr(expected).split("\n", 1)[1] in shown
    plain = json.loads(run("score", "t.parquet", "--set", "held", "--json"))
    assert plain["sets"] == json.loads(json.dumps(expected.to_dict()))
    assert (plain["scorecard"], plain["intervals"]) == (None, None)
    run("score", "t.parquet", "--set", "held", "--save-state", "t.state")
    inspected = json.loads(run("state", "inspect", "t.state"))
    assert (inspected["result"], inspected["sets"]) == (None, plain["sets"])
    run("report", "t.parquet", "--set", "held", "-o", "t.html")
    page = (tmp_path / "t.html").read_text()
    covered = 100 * float(expected.coverage)
    assert f"These sets hold what happened in {covered:.4g}% of all rows." in page
    plain = json.loads(run("report", "t.parquet", "--set", "held", "--json"))
    (section,) = plain["sections"]
    assert [row["classes"] for row in section["tables"]["sizes"]] == ["0", "1", "2", "3"]
    values = {number["name"]: number["value"] for number in section["numbers"]}
    assert values["set_coverage"] == float(expected.coverage)
    assert values["empty_sets"] == counted()[0][0] / N


def test_picture():
    pytest.importorskip("matplotlib")
    summary = calibrant.set_summary(Y, CODES)
    display = summary.plot(name="ours")
    shares = [bar.get_height() for bar in display.bars_]
    assert shares == [n / N for n, _ in counted().values()]
    assert list(display.points_.get_xdata()) == [0, 1, 2, 3]
    coverages = [covered / n for n, covered in counted().values()]
    assert display.points_.get_ydata() == pytest.approx(coverages)
    assert len(display.intervals_) == 4
    levels = np.stack([HELD, np.ones_like(HELD)], 2)
    both = calibrant.set_summary(Y, levels)
    assert both.plot(level=1).total_.get_ydata()[0] == 1.0
