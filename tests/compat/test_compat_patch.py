"""Swapping the peers' functions, the command that does it, and the verbs of torchmetrics."""

import doctest
import importlib
import inspect
import re
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

from calibrant import compat, streaming
from calibrant.compat.torchmetrics import Metric

metrics = pytest.importorskip("sklearn.metrics")
mapie = pytest.importorskip("mapie.metrics")

Y, P = np.array([0, 1, 1, 0]), np.array([0.2, 0.9, 0.4, 0.3])


@pytest.fixture
def someone():
    """A module that has imported functions by name."""
    module = types.ModuleType("someone_elses")
    module.brier = metrics.brier_score_loss
    module.ece = mapie.calibration.expected_calibration_error
    sys.modules["someone_elses"] = module
    yield module
    del sys.modules["someone_elses"]


def names():
    return {
        (module.__name__, name): value
        for module in list(sys.modules.values())
        if isinstance(module, types.ModuleType) and module.__name__.split(".")[0] in
        ("sklearn", "mapie", "someone_elses")
        for name, value in list(vars(module).items()) if callable(value)
    }  # fmt: skip


def test_swaps_where_it_is_defined_and_where_it_was_imported(someone):
    compat.patch().__enter__().__exit__(None, None, None)  # loads what it needs
    before, original = names(), metrics.brier_score_loss
    with compat.patch() as patched:
        assert metrics.brier_score_loss is not original
        assert someone.brier is metrics.brier_score_loss
        assert sys.modules["sklearn.metrics._classification"].brier_score_loss is someone.brier
        assert someone.brier(Y, P) == pytest.approx(0.125)
        someone.ece(Y, P)
    after = names()
    assert all(after[key] is value for key, value in before.items())
    assert patched.calls["sklearn.metrics.brier_score_loss"].count == 1
    assert patched.calls["mapie.metrics.calibration.expected_calibration_error"].count == 1
    assert "2 calls" not in repr(patched)


def fail_later(someone, original):
    someone.late = metrics.log_loss
    assert someone.late is not original
    raise ZeroDivisionError


def test_puts_back_after_an_exception_and_in_modules_loaded_meanwhile(someone):
    original = metrics.log_loss
    with pytest.raises(ZeroDivisionError), compat.patch("sklearn"):
        fail_later(someone, original)
    assert metrics.log_loss is original
    assert someone.late is original


def test_nests_and_can_be_entered_again():
    original = metrics.log_loss
    outer, inner = compat.patch("sklearn"), compat.patch(["sklearn", "mapie"])
    with outer:
        with inner, outer:
            metrics.log_loss(Y, P)
        assert metrics.log_loss is not original
        metrics.log_loss(Y, P)
    assert metrics.log_loss is original
    assert inner.calls["sklearn.metrics.log_loss"].count == 1
    with outer:
        metrics.log_loss(Y, P)
    assert metrics.log_loss is original
    metrics.log_loss(Y, P)
    assert outer.calls["sklearn.metrics.log_loss"].count == 4  # entered twice, it counts twice


def test_a_kept_function_works_after_the_end():
    with compat.patch("sklearn") as patched:
        kept = [metrics.brier_score_loss]
    assert kept[0](Y, P) == pytest.approx(0.125)
    assert not patched.calls


def test_compares_with_the_peer(someone):
    with compat.patch(compare=True) as patched:
        found = someone.brier(Y, P)
        mapie.regression.regression_ssc(np.arange(9.0), np.array([[i, 2 * i] for i in range(9)]))
        mapie.calibration.add_jitter(P, random_state=np.random.RandomState(3))
    assert found == pytest.approx(0.125)
    for calls in patched.calls.values():
        assert calls.count == 1  # what the peer calls in turn is not counted
        assert calls.largest_difference < 1e-12
        assert calls.peer_seconds > 0
    assert len(patched.calls) == 3


def test_errors_pass_through_and_count():
    with compat.patch("sklearn", compare=True) as patched:
        with pytest.raises(ValueError, match="y_proba"):
            metrics.brier_score_loss(Y, P + 1)
        assert patched.calls["sklearn.metrics.brier_score_loss"].count == 1


def test_scorers_by_name_are_swapped():
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import cross_val_score

    X = np.zeros((30, 1))
    y = np.arange(30) % 2
    expected = cross_val_score(DummyClassifier(), X, y, scoring="neg_log_loss", cv=3)
    with compat.patch("sklearn") as patched:
        found = cross_val_score(DummyClassifier(), X, y, scoring="neg_log_loss", cv=3)
    assert patched.calls["sklearn.metrics.log_loss"].count == 3
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    scorer = sys.modules["sklearn.metrics._scorer"]._SCORERS["neg_log_loss"]
    assert scorer._score_func is metrics.log_loss


def test_threads_count_together():
    with compat.patch("sklearn") as patched:
        threads = [
            threading.Thread(target=lambda: [metrics.log_loss(Y, P) for _ in range(20)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert patched.calls["sklearn.metrics.log_loss"].count == 80


def test_unknown_peers_are_rejected():
    with pytest.raises(ValueError, match="peers must be of"):
        compat.patch("netcal")


SCRIPT = """
import sys
from sklearn.metrics import brier_score_loss
print("arguments", sys.argv[1:], __name__)
print(brier_score_loss([0, 1], [0.25, 0.75]))
sys.exit(3)
"""


@pytest.mark.parametrize("options", [[], ["--only-ours"]])
def test_command_runs_a_script(tmp_path, options):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "calibrant.compat", *options, str(script), "--n", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines() == ["arguments ['--n', '5'] __main__", "0.0625"]
    assert "sklearn.metrics.brier_score_loss" in done.stderr
    assert ("gained" in done.stderr) == (not options)


def test_command_without_calls(tmp_path, monkeypatch, capsys):
    main = importlib.import_module("calibrant.compat.__main__").main
    (tmp_path / "quiet.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    main(["-m", "quiet"])
    assert "none of the functions was called" in capsys.readouterr().err


def test_layers_need_no_peer():
    script = """
import sys
for name in ("sklearn", "scipy", "mapie", "torch", "torchmetrics"):
    sys.modules[name] = None
import calibrant
assert not any(name.startswith("calibrant.compat") for name in sys.modules)
from calibrant import compat
from calibrant.compat import mapie, sklearn, torchmetrics
print(sklearn.brier_score_loss([0, 1], [0.25, 0.75]))
print(mapie.calibration.spiegelhalter_p_value([0, 1, 1], [0.25, 0.75, 0.5]) > 0)
with compat.patch():
    pass
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.0625", "True"]


# Examples of the peers ---------------------------------------------------------------------------


class NumbersChecker(doctest.OutputChecker):
    """Floats are printed with fewer digits, and then cut or rounded."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        shown, printed = (numbers_in(text) for text in (want, got))
        return len(shown) == len(printed) > 0 and all(
            abs(float(a) - float(b)) <= 10.0 ** -len(a.partition(".")[2])
            for a, b in zip(shown, printed, strict=True)
        )


def numbers_in(text):
    words = text.replace("array", "").translate(BRACKETS).split()
    return words if all(re.fullmatch(r"-?\d*\.?\d*(e-?\d+)?", word) for word in words) else []


BRACKETS = str.maketrans("()[],", "     ")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def peer_examples():
    for peer, pairs in compat._patch._PAIRS.items():
        for ours, theirs in pairs:
            try:
                module = importlib.import_module(theirs)
            except ImportError:  # mapie.metrics.conditional needs covmetrics
                continue
            for name in importlib.import_module(ours).__all__:
                function = getattr(module, name, None)
                if function is not None and name != "InvalidParameterError":
                    yield pytest.param(peer, name, function, id=f"{theirs}.{name}")


@pytest.mark.parametrize(("peer", "name", "function"), list(peer_examples()))
def test_examples_of_the_peers_documentation(peer, name, function):
    example = doctest.DocTestParser().get_doctest(
        function.__doc__, {"np": np}, name, None, None
    )  # fmt: skip
    said = []
    with compat.patch(peer, compare=True) as patched, np.errstate(all="ignore"):
        runner = doctest.DocTestRunner(NumbersChecker(), optionflags=FLAGS)
        runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)
    assert all(calls.largest_difference < 1e-12 for calls in patched.calls.values())
    called = any(key.endswith(f".{name}") for key in patched.calls)
    assert called or name not in function.__doc__.split("Examples")[-1]


@pytest.mark.gil
def test_names_and_signatures_are_the_peers():
    for pairs in compat._patch._PAIRS.values():
        for ours, theirs in pairs:
            if theirs.endswith("conditional"):  # needs covmetrics
                continue
            mine, peer = importlib.import_module(ours), importlib.import_module(theirs)
            for name in mine.__all__:
                if name != "InvalidParameterError" and hasattr(peer, name):
                    found, expected = (inspect.signature(getattr(m, name)) for m in (mine, peer))
                    assert shape_of(found) == shape_of(expected), name
            if theirs.startswith("mapie"):
                public = {
                    name
                    for name, value in vars(peer).items()
                    if inspect.isfunction(value) and value.__module__ == theirs and name[0] != "_"
                }
                assert public == set(mine.__all__)


def shape_of(signature):
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


# The verbs of torchmetrics -----------------------------------------------------------------------


def test_metric_has_the_verbs_of_torchmetrics():
    rng = np.random.default_rng(0)
    p = rng.random(100)
    y = (rng.random(100) < p).astype(int)
    whole = streaming.Scores()
    whole.update(y, p)
    metric, other = Metric(streaming.Scores), Metric(streaming.Scores)
    metric.update(p[:40], y[:40])
    assert other(p[40:], y[40:]).n == 60
    sent = other.state_dict()
    assert metric.merge_state(sent).compute() == whole.result()
    metric.reset()
    assert metric.accumulator.n == 0
    metric.load_state_dict(sent)
    assert metric.compute() == other.compute()
    metric.reset()
    metric.update(target=y[:40], preds=p[:40], sample_weight=np.ones(40))
    assert metric.merge_state([other]).compute() == whole.result()
    assert repr(metric).startswith("Metric(streaming.Scores")


def test_metric_of_intervals_and_its_rejections():
    metric = Metric(lambda: streaming.Intervals(confidence_level=0.9))
    metric.update(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0.5, 5.0]))
    assert metric.compute()[0].coverage.value == 0.5
    before = metric.compute()
    with pytest.raises(TypeError, match="cannot merge"):
        metric.merge_state([metric, Metric(streaming.Scores)])
    assert metric.compute() == before
    with pytest.raises(KeyError, match="state"):
        metric.load_state_dict({})
