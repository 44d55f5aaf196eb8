"""The engine of tetfile: see the package for what users call."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "__version__",
    "OpenFile",
    "Selected",
    "Regions",
    "get",
    "part",
    "block",
    "read_into",
    "picked",
    "labels",
    "find_label",
    "storage",
    "is_raw",
    "reduce",
    "summary",
    "query",
    "explain",
    "verify",
    "convert",
    "publish_parts",
    "auto_chunks",
    "convert_pieces",
]

__version__: str

_Progress: TypeAlias = Callable[[int, int], object] | None
_Slices: TypeAlias = tuple[tuple[int, int, int, bool], ...]
_Pick: TypeAlias = tuple[int, int, int] | npt.NDArray[np.uint64]

@final
class OpenFile:
    def __new__(
        cls,
        path: str | PathLike[str],
        io: str,
        digests: str,
        decoded: bool,
        memory: int | None = None,
        threads: int | None = None,
    ) -> OpenFile: ...
    @property
    def closed(self) -> bool: ...
    @property
    def format(self) -> str: ...
    def attrs(self) -> dict[str, Any]: ...
    def close(self) -> None: ...
    def dataset(self, name: str) -> Selected: ...
    def findings(self) -> list[str]: ...
    def names(self) -> tuple[str, ...]: ...
    def stamp(self) -> tuple[int, int]: ...

@final
class Selected:
    @property
    def chunks(self) -> tuple[int, ...]: ...
    @property
    def dims(self) -> tuple[str, ...] | None: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def dtype_name(self) -> str: ...
    @property
    def fault(self) -> str | None: ...
    @property
    def fill_value(self) -> bytes | None: ...
    @property
    def is_chunked(self) -> bool: ...
    @property
    def is_decoded(self) -> bool: ...
    @property
    def is_masked(self) -> bool: ...
    @property
    def is_number(self) -> bool: ...
    @property
    def is_text(self) -> bool: ...
    @property
    def key(self) -> str: ...
    @property
    def memory_dtype(self) -> np.dtype[Any]: ...
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def slices(self) -> _Slices: ...
    def attrs(self) -> dict[str, Any]: ...
    def with_slices(self, slices: Sequence[tuple[int, int, int, bool]]) -> Selected: ...

@final
class Regions:
    @staticmethod
    def scratch(
        plan: str, folder: str | PathLike[str], memory: int | None = None, threads: int | None = None
    ) -> Regions: ...
    @staticmethod
    def part(
        plan: str, path: str | PathLike[str], memory: int | None = None, threads: int | None = None
    ) -> Regions: ...
    @staticmethod
    def edit(
        file: OpenFile,
        folder: str | PathLike[str],
        growths: Sequence[tuple[int, int, int]],
        codec: str,
        level: int | None = None,
        memory: int | None = None,
        threads: int | None = None,
    ) -> Regions: ...
    def add(self, plan: str) -> int: ...
    def close(self) -> int: ...
    def discard(self) -> None: ...
    def publish(
        self,
        plan: str | None,
        target: str | PathLike[str],
        overwrite: bool,
        operation: str,
        progress: _Progress = None,
    ) -> dict[str, int]: ...
    def truncate(self, dataset: int, extent: int) -> None: ...
    def write(
        self,
        dataset: int,
        start: Sequence[int],
        extents: Sequence[int],
        elements: Any,
        progress: _Progress = None,
    ) -> None: ...

def get(selected: Selected, key: Any, progress: _Progress = None) -> Any: ...
def part(selected: Selected, key: Any) -> Selected | None: ...
def block(selected: Selected, parts: Sequence[tuple[int, int, int]], progress: _Progress = None) -> Any: ...
def picked(selected: Selected, picks: Sequence[_Pick], progress: _Progress = None) -> Any: ...
def read_into(selected: Selected, out: Any, progress: _Progress = None) -> None: ...
def labels(selected: Selected, axis: int) -> npt.NDArray[Any] | None: ...
def find_label(
    selected: Selected, axis: int, first: str | None, last: str | None = None, is_range: bool = False
) -> tuple[int, int, bool]: ...
def storage(selected: Selected) -> dict[str, Any]: ...
def is_raw(selected: Selected) -> bool: ...
def reduce(
    selected: Selected, asked: Sequence[dict[str, Any]], progress: _Progress = None
) -> tuple[list[dict[str, Any]], str]: ...
def summary(
    selected: Selected, quartiles: bool, progress: _Progress = None
) -> tuple[list[dict[str, Any]], str]: ...
def query(file: OpenFile, json: str, progress: _Progress = None) -> dict[str, Any]: ...
def explain(file: OpenFile, json: str) -> dict[str, Any]: ...
def verify(
    path: str | PathLike[str],
    level: str,
    strict: bool,
    memory: int | None = None,
    threads: int | None = None,
    progress: _Progress = None,
) -> dict[str, Any]: ...
def convert(
    input: str | PathLike[str], output: str | PathLike[str], asked: dict[str, Any], progress: _Progress = None
) -> dict[str, Any]: ...
def publish_parts(
    plan: str,
    parts: Sequence[str | PathLike[str]],
    target: str | PathLike[str],
    overwrite: bool,
    progress: _Progress = None,
) -> dict[str, int]: ...
def auto_chunks(shape: Sequence[int], element_size: int) -> list[int]: ...
def convert_pieces(
    pieces: Sequence[Any], output: str | PathLike[str], asked: dict[str, Any], progress: _Progress = None
) -> dict[str, Any]: ...
