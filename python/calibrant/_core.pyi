from types import ModuleType
from typing import TypedDict

_testing: ModuleType

class _Config(TypedDict):
    compiler: str
    flags: str
    cpp_standard: int
    openmp_date: int
    num_threads: int
    num_threads_source: str
    isa: str
    isa_source: str
    available_isas: list[str]

max_threads: int

def num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
def config() -> _Config: ...
