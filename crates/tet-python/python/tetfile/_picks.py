"""Reductions of picked positions: the engine folds each position once, in increasing order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _tetfile
from ._errors import UsageError

Array = npt.NDArray[Any]


def check(core: _tetfile.Selected, op: str, reduced: list[int]) -> None:
    """Refuses what a reduction cannot do with picked positions of the axes that it reduces.

    Raises:
        UsageError: A position is picked twice, or places are counted in another order than that of the file.
    """
    for axis, picks in _shown(core).items():
        steps = np.diff(picks.astype(np.int64))
        needs_order = op in ("arg_min", "arg_max") and bool((steps <= 0).any())
        if axis in reduced and (needs_order or len(np.unique(picks)) < len(picks)):
            message = f"axis {axis} has positions that are repeated or not in order: read the part and reduce the array"
            raise UsageError(message, dataset=core.name)


def ordered(core: _tetfile.Selected, values: Array, along: list[tuple[Any, ...]]) -> Array:
    """The result with its picked positions in the order in which they were asked for."""
    picks = dict(core.picks)
    for at, axis in enumerate(along):
        if axis[0] == "picks":
            places = np.searchsorted(np.asarray(axis[2], dtype=np.uint64), picks[axis[1]])
            values = values if np.array_equal(places, np.arange(len(places))) else values.take(places, at)
    return values


def counted(core: _tetfile.Selected, values: Array, reduced: list[int]) -> Array:
    """Places of extrema, which the engine counts along all positions of a slice, counted along the picked ones."""
    picks = {axis: picks for axis, picks in _shown(core).items() if axis in reduced}
    if not picks or not values.size:
        return values
    counts = [len(range(start, stop, step)) for start, stop, step, is_kept in core.slices if is_kept]
    places = list(np.unravel_index(values, [counts[axis] for axis in reduced]))
    for axis, positions in picks.items():
        places[reduced.index(axis)] = np.searchsorted(positions, places[reduced.index(axis)].astype(np.uint64))
    return np.asarray(np.ravel_multi_index(tuple(places), [core.shape[axis] for axis in reduced]))


def _shown(core: _tetfile.Selected) -> dict[int, npt.NDArray[np.uint64]]:
    """The picked positions by the axis that appears."""
    kept = [axis for axis, slice in enumerate(core.slices) if slice[3]]
    return {kept.index(axis): picks for axis, picks in core.picks}
