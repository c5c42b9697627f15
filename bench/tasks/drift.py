"""The sequential test of calibration beside the accumulator that it is made of."""

from __future__ import annotations

from bench.predictions import binary
from bench.task import LINEAR, Peer, Task
from calibrant.sequential import SequentialCalibrationTest
from calibrant.streaming import Scores


def sequential(y, p):
    test = SequentialCalibrationTest()
    test.update(y, p)
    return test.result()


def scores(y, p):
    made = Scores()
    made.update(y, p)
    return made


def no_alarm(data, found):
    assert not found.alarm
    assert found.n == len(data[0])


TASKS = (
    Task(
        "SequentialCalibrationTest",
        binary,
        sequential,
        (Peer("streaming.Scores", scores, yardstick=True),),
        check=no_alarm,
        sizes=LINEAR[1:],
    ),
)
