"""The exceptions of the package."""

from __future__ import annotations

__all__ = [
    "ChangedError",
    "DamagedError",
    "ElementTypeError",
    "LimitError",
    "NotFoundError",
    "OutOfRangeError",
    "TetError",
    "UnsupportedError",
    "UsageError",
]


class TetError(Exception):
    """An error of this package. What the system refuses is an :class:`OSError` instead.

    Attributes:
        path: The file, where it is known.
        rule: The rule of the format that is broken, such as ``"TET-P1"``.
        byte: Where in the file, in bytes from its start.
        dataset: The name of the dataset.
        chunk: The coordinates of the chunk in the grid of chunks.

    >>> try:
    ...     tetfile.open("notes.txt")
    ... except tetfile.TetError as error:
    ...     print(type(error).__name__, os.path.basename(error.path))
    UnsupportedError notes.txt
    """

    path: str | None
    rule: str | None
    byte: int | None
    dataset: str | None
    chunk: tuple[int, ...] | None

    def __init__(
        self,
        message: str = "",
        *,
        path: str | None = None,
        rule: str | None = None,
        byte: int | None = None,
        dataset: str | None = None,
        chunk: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.rule = rule
        self.byte = byte
        self.dataset = dataset
        self.chunk = chunk

    # A KeyError shows its message in quotes.
    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[object, ...]:
        known = ("path", "rule", "byte", "dataset", "chunk")
        return (type(self), self.args, {name: getattr(self, name) for name in known})


class DamagedError(TetError):
    """The file breaks a rule of its format, or its bytes differ from their checksum."""


class LimitError(TetError):
    """A bound would be passed: of memory, of the length of a result, of what a file may ask for."""


class ChangedError(TetError):
    """The file is not the one that was opened: it was changed or replaced."""


class UnsupportedError(TetError):
    """The file may be sound, and this build does not read its format, codec or type of elements."""


class UsageError(TetError, ValueError):
    """What was asked for is not possible for this file, whatever its bytes are."""


class NotFoundError(UsageError, KeyError):
    """No dataset, axis or label has this name."""


class OutOfRangeError(UsageError, IndexError):
    """A position is outside of its axis."""


class ElementTypeError(UsageError, TypeError):
    """The operation is not defined for the type of the elements."""
