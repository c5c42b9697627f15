"""Take report.png of README.md and docs/guide/report.md.

Needs pip install ".[report]", and chromium.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from calibrant.report import report


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# The over-confident forecaster of examples/quickstart.py.
rng = np.random.default_rng(2017)
evidence = rng.normal(0, 2, 100_000)
y_true = rng.random(evidence.size) < sigmoid(evidence)
y_proba = sigmoid(1.7 * evidence)

with tempfile.TemporaryDirectory() as folder:
    page = report(y_true, y_proba).save(Path(folder) / "report.html")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    flags += ["--window-size=1140,1690", "--blink-settings=preferredColorScheme=1"]
    picture = Path(__file__).with_suffix(".png")
    subprocess.run(["chromium", *flags, f"--screenshot={picture}", page.as_uri()], check=True)
