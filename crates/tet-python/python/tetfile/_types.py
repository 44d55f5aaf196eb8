"""Types of elements in NumPy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

# Types that NumPy has under the same name.
_PLAIN = frozenset(
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128".split()
)


@cache
def memory_of(name: str) -> tuple[np.dtype[Any], np.dtype[Any]] | None:
    """The type of the memory that elements are read into, and the type that they are seen as.

    ``bfloat16`` and the types of eight bits come from the package ``ml_dtypes``; without it they have no type here.
    """
    if name in _PLAIN:
        plain = np.dtype(name)
        return plain, plain
    if name == "string":
        texts = np.dtype(object)
        return texts, texts
    seen = _extension(name)
    if seen is None or seen.itemsize > 2:
        return None
    return np.dtype(f"u{seen.itemsize}"), seen


def _extension(name: str) -> np.dtype[Any] | None:
    try:
        import ml_dtypes
    except ImportError:
        return None
    found = getattr(ml_dtypes, name, None)
    is_small = name == "bfloat16" or name.startswith("float8_")
    return np.dtype(found) if found is not None and is_small else None
