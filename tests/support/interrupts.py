"""Ctrl-C during a call, and how long the process works on until it is answered.

Work is measured by the clock of the process, since a busy machine makes all else wait.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

import pytest

from calibrant._runtime import interruptible

needs_signals = pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="no signals to threads"
)

#: Seconds of the processor until a call ends, at most; on an idle machine all need 0.3.
ANSWERED = 1.5
#: Tries, of which one must be in time: others may have the memory and the caches meanwhile.
TRIES = 3
#: Seconds until Ctrl-C is pressed again: CPython drops what it raises in a finalizer.
AGAIN = 10.0


def assert_interrupted(call: Callable[[], object], after: float = 0.1) -> None:
    """Assert that a call is under way after so many seconds, and that Ctrl-C ends it."""
    took: list[float | None] = []
    while len(took) < TRIES:
        seconds = work_to_answer(call, after)
        took.append(seconds)
        if seconds is None:
            after /= 4  # a fast machine may have been done before
        elif seconds < ANSWERED:
            return
    raise AssertionError(took)


def work_to_answer(call: Callable[[], object], after: float) -> float | None:
    """Return the seconds of the processor from Ctrl-C to the end of the call.

    None if it was not ended by Ctrl-C: because it was done before, or did not answer.
    """
    main, pressed, is_over = threading.main_thread().ident, [], threading.Event()
    assert main is not None

    def press() -> None:
        wait = after
        while not is_over.wait(wait):
            pressed.append(time.process_time())
            signal.pthread_kill(main, signal.SIGINT)
            wait = AGAIN

    thread = threading.Thread(target=press)
    took = None
    try:
        thread.start()
        call()
    except KeyboardInterrupt:
        took = time.process_time() - pressed[-1]
    finally:
        is_over.set()
        thread.join()
        # What was abandoned would slow down what comes next.
        for done in tuple(interruptible._under_way):
            done.wait()
    return took
