"""Attributes: text, numbers of NumPy, or what their JSON is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, NoReturn, TypeAlias

import numpy as np

from . import _types

Stored: TypeAlias = "str | tuple[str | None, str]"


class Attrs(dict[str, Any]):
    """Attributes of a file, which are read: what changes them raises :class:`TypeError`. ``dict(attrs)`` is a copy to change."""

    __slots__ = ()
    _advice = "attributes of an open file are read-only: change a copy, as dict(attrs), or the file with `tet edit set`"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(self._advice)

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = pop = popitem = setdefault = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class PlannedAttrs(Attrs):
    """Attributes of a dataset that is planned: each process has the plan as it was made."""

    __slots__ = ()
    _advice = "attributes are those of the plan: give them to the dataset there, as tetfile.Spec(shape, dtype, attrs={...})"


class NewAttrs(MutableMapping[str, Any]):
    """Attributes that a new file has when it is committed. ``check`` is called with the name of one before it changes."""

    __slots__ = ("_check", "_held")

    def __init__(self, held: dict[str, Any], check: Callable[[str, Any], None]) -> None:
        self._held = held
        self._check = check

    def __getitem__(self, name: str) -> Any:
        return self._held[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of an attribute is text, not {type(name).__name__}")
        self._check(name, value)
        self._held[name] = value

    def __delitem__(self, name: str) -> None:
        if name in self._held:
            self._check(name, None)
        del self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return repr(self._held)


def values(stored: dict[str, Stored]) -> Attrs:
    """The attributes by name.

    A number is a scalar of NumPy and a list of numbers an array, of the type that the file has; any other value is what
    its JSON is.
    """
    return Attrs({name: value_of(value) for name, value in stored.items()})


def value_of(stored: Stored) -> Any:
    """One of them."""
    if isinstance(stored, str):
        return stored
    name, text = stored
    value = json.loads(text)
    if name is None:
        return value
    found = _types.memory_of(name)
    dtype = np.dtype("float32" if name == "bfloat16" else name) if found is None else found[1]
    if dtype.kind == "c":
        return _complex(value, dtype)
    # JSON has no NaN: it is the text "NaN", which is a float here.
    array = np.array(value, dtype=object)
    if dtype.kind not in "iub":
        array = np.vectorize(float, otypes=[float])(array) if array.size else array
    return array.astype(dtype)[()]


def _complex(value: Any, dtype: np.dtype[Any]) -> Any:
    def of(pair: list[Any]) -> complex:
        return complex(float(pair[0]), float(pair[1]))

    is_one = len(value) == 2 and not isinstance(value[0], list)
    array = np.array(of(value) if is_one else [of(pair) for pair in value], dtype=dtype)
    return array[()]
