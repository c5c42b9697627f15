"""One task in a process of its own: records go to a pipe, line by line.

python -m bench.child <file descriptor> <JSON: task, sizes, settings>
"""

from __future__ import annotations

import json
import os
import sys
import warnings

from bench.measure import Settings, measure
from bench.tasks import find


def main() -> None:
    order = json.loads(sys.argv[2])
    settings = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in order["settings"].items()
    }
    warnings.simplefilter("ignore")  # of peers, whose outputs are compared all the same
    with os.fdopen(int(sys.argv[1]), "w") as pipe:

        def say(line: dict) -> None:
            pipe.write(json.dumps(line) + "\n")
            pipe.flush()

        for record in measure(
            find(order["task"]),
            tuple(order["sizes"]),
            Settings(**settings),
            lambda n, who: say({"begin": [n, who]}),
        ):
            say(record)


if __name__ == "__main__":
    main()
