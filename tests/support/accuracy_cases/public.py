"""Every public name that gives numbers is in a row, or here with the reason why not."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import calibrant

COUNTS = "whole numbers, counted; exact comparisons of doubles"
DRAWN = "random numbers, a function of the seed"
MADE_OF_ROWS = "made of numbers that have rows of their own"
BYTES = "moves states and tables, computes no number"
PICTURES = "pictures and text of results"

NOT_MEASURED = {
    "LearnPlusPlus": "a classifier; its confidence is that of ensemble_confidence",
    "break_ties": COUNTS,
    "compare_samples": MADE_OF_ROWS,
    "compat.Patch": "the peers' functions, with the peers' own accuracy",
    "compat.patch": "the peers' functions, with the peers' own accuracy",
    "config.config": "settings",
    "conventions": "others' numbers, by their own arithmetic",
    "distributed.combine": BYTES,
    "distributed.dask": BYTES,
    "distributed.finish": BYTES,
    "distributed.local": BYTES,
    "distributed.partial": BYTES,
    "distributed.ray": BYTES,
    "distributed.spark": BYTES,
    "draw_counts": COUNTS,
    "energy_ranks": COUNTS,
    "ensemble_votes": "votes and weights as the estimator has them",
    "evidence.Evidence": MADE_OF_ROWS,
    "get_num_threads": "settings",
    "io.Scan": BYTES,
    "io.scan": BYTES,
    "pit_values": "the caller's own distribution function, with a random share of its jump",
    "plotting.style": PICTURES,
    "report.comparison": PICTURES,
    "report.comparison_report": PICTURES,
    "report.report": PICTURES,
    "sbc_ranks": COUNTS,
    "set_num_threads": "settings",
    "show_config": "settings",
    "streaming.Grouped": "holds accumulators, computes no number",
    "streaming.Refinement": MADE_OF_ROWS,
    "streaming.Windowed": "holds accumulators, computes no number",
    "streaming.load": BYTES,
    "streaming.restore": BYTES,
    "tarp_ranks": COUNTS,
    "tarp_references": DRAWN,
    "telemetry.attributes": PICTURES,
    "telemetry.prometheus_text": PICTURES,
}


def public_names() -> Iterator[str]:
    """Yield functions and classes, but for results and pictures of results.

    Each by the shortest name: ``brier_score``, ``streaming.Scores``.
    """
    seen = set()
    modules = [info.name for info in pkgutil.iter_modules(calibrant.__path__)]
    for module in ["", *(name for name in modules if not name.startswith("_"))]:
        if module in ("cli", "commands"):
            continue
        home = importlib.import_module(f"calibrant.{module}".rstrip("."))
        for name in getattr(home, "__all__", []):
            thing = getattr(home, name)
            if not inspect.isroutine(thing) and not inspect.isclass(thing):
                continue
            if thing in seen or dataclasses.is_dataclass(thing) or name.endswith("Display"):
                continue
            seen.add(thing)
            yield f"{module}.{name}".lstrip(".")
    yield "LearnPlusPlus"  # which is not in __all__, as it needs scikit-learn
