"""Plots in a notebook: cells run as a Jupyter kernel runs them, and what they show."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")

_KERNEL = """
import json, sys
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.display_pub = CapturingDisplayPublisher()
shown = []
for cell in json.load(sys.stdin):
    shell.display_pub.outputs.clear()
    shell.run_cell(cell).raise_error()
    shown.append(sum("image/png" in output["data"] for output in shell.display_pub.outputs))
print(json.dumps(shown))
"""


def images(*cells):
    """How many pictures each cell shows, in a profile and an environment of its own."""
    kept = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR", "HOME")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    with tempfile.TemporaryDirectory() as folder:
        environment["IPYTHONDIR"] = folder
        return _images(environment, cells)


def _images(environment, cells):
    done = subprocess.run(
        [sys.executable, "-c", _KERNEL],
        input=json.dumps([textwrap.dedent(cell) for cell in cells]),
        env=environment,
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


_RESULT = """
import warnings
warnings.simplefilter("error")
import calibrant
y, p = [0, 1, 0, 1] * 20, [0.25, 0.75, 0.5, 0.625] * 20
curve = calibrant.roc_curve(y, p)
"""
_OWN = """
import matplotlib.pyplot as plt
plt.plot([1, 2])
"""


def test_every_plot_of_a_notebook_appears():
    cells = ["curve.plot()", "curve.plot()", _OWN, "plt.figure(); plt.plot([1, 2])"]
    assert images(_RESULT, *cells) == [0, 1, 1, 1, 1]


def test_plots_in_the_dark_style_appear():
    dark = "with calibrant.plotting.style('dark'):\n    curve.plot()"
    assert images(_RESULT, dark, dark, _OWN) == [0, 1, 1, 1]


def test_plots_after_a_report_appear():
    report = "page = calibrant.report.report(y, p).to_html()"
    assert images(_RESULT, report, "curve.plot()", _OWN) == [0, 0, 1, 1]


def test_the_settings_of_the_user_stay_as_they_were():
    import matplotlib as mpl

    from calibrant.plotting import style

    before = dict(mpl.rcParams)
    with style("dark"):
        assert mpl.rcParams["figure.facecolor"] == "#14171c"
    assert dict(mpl.rcParams) == before
