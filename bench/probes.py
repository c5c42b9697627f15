"""What is no task beside a peer, each in a process of its own: small calls, files, long runs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from bench.runner import ROOT

#: Modules with a function `measure(quick=...)`, by what it measures, with seconds at most.
PROBES = {
    "small calls": ("bench.small_calls", 120),
    "drop-in": ("bench.compat", 600),
    "parquet": ("bench.score_parquet", 600),
    "soak": ("bench.soak", 600),
}


def run(name: str, *, quick: bool) -> dict[str, Any]:
    """Return what a probe found, or why it did not."""
    module, patience = PROBES[name]
    script = (
        f"import json, sys, warnings; warnings.simplefilter('ignore'); from {module} import "
        f"measure; out, sys.stdout = sys.stdout, sys.stderr; found = measure(quick={quick}); "
        "print(json.dumps(found), file=out)"
    )
    command = [sys.executable, "-c", script]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {patience} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no reason given"])[-1]}
    return dict(json.loads(done.stdout))
