"""Labels of the axes of a part of a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _tetfile
from ._errors import NotFoundError


def along(core: _tetfile.Selected, axis: int) -> npt.NDArray[Any] | None:
    """The labels of the selected positions of an axis that appears; ``None`` where it has none."""
    number = _number(core, axis)
    found = _tetfile.labels(core, number)
    start, stop, step, _ = core.slices[number]
    return None if found is None else found[start:stop:step]


def narrowed(
    core: _tetfile.Selected, axis: int, label: Any, method: str | None
) -> list[tuple[int, int, int, bool]]:
    """The slices of the dataset with those of an axis that a label selects, or labels from one through another."""
    number = _number(core, axis)
    slices = list(core.slices)
    start, stop, step, _ = slices[number]
    if isinstance(label, slice):
        if label.step is not None:
            raise ValueError("labels have no step: use isel")
        first, end, _ = _tetfile.find_label(core, number, _text(label.start), _text(label.stop), True)
        # The first and the last of the selected positions that are within.
        low = start + max(0, -(-(first - start) // step)) * step
        high = min(end, stop)
        slices[number] = (min(low, stop), max(min(low, stop), high), step, True)
        return slices
    if method == "nearest":
        at = start + _nearest(core, axis, label) * step
    else:
        if isinstance(label, list | tuple | np.ndarray) and np.ndim(label) != 0:
            raise TypeError("sel takes a label or a slice of labels: find several with labels() and index with them")
        at, _, _ = _tetfile.find_label(core, number, _text(label))
        if not (start <= at < stop and (at - start) % step == 0):
            raise NotFoundError(f"label {label!r} is not among those that are selected", dataset=core.name)
    slices[number] = (at, at + 1, 1, False)
    return slices


def _nearest(core: _tetfile.Selected, axis: int, label: Any) -> int:
    found = along(core, axis)
    if found is None or found.dtype == object or not len(found):
        raise NotFoundError(f"axis {axis} of {core.name!r} has no numbers as labels", dataset=core.name)
    return int(np.nanargmin(np.abs(found - label)))


def _number(core: _tetfile.Selected, axis: int) -> int:
    """The axis of the dataset that an axis that appears is."""
    return [number for number, (*_, is_kept) in enumerate(core.slices) if is_kept][axis]


def _text(label: Any) -> str | None:
    """A label as text: numbers are found by value."""
    if label is None or isinstance(label, str):
        return label
    if isinstance(label, np.generic):
        label = label.item()
    return repr(label) if isinstance(label, int | float) else str(label)
