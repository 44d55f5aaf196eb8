"""Keys with arrays, with NumPy's meaning.

What a key selects along each axis is read as one block; NumPy then applies the same key, counted within the block. So the
shape of a result, the order of its axes and its type are NumPy's own::

    d[[7, 2], :, [0, 5]]  ->  block of rows 2, 7 and columns 0, 5  ->  block[[1, 0], :, [0, 1]]

Where arrays pick scattered points, of which the block would be much larger, points are read chunk by chunk.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _tetfile

Positions: TypeAlias = npt.NDArray[np.intp]
# What is selected of an axis: (start, count, step), or positions in any order.
Pick: TypeAlias = "tuple[int, int, int] | npt.NDArray[np.uint64]"

# A block of more elements is only read where a key needs a good part of them.
_BLOCK_MAX = 1 << 18
_WASTE_MAX = 4


@dataclass
class _Axis:
    """What is read along an axis, and the key within it."""

    pick: Pick
    within: Any
    # The positions of an array, as the key has them.
    positions: Positions | None = None

    @property
    def count(self) -> int:
        return self.pick[1] if isinstance(self.pick, tuple) else len(self.pick)


def read(core: _tetfile.Selected, key: Any, progress: Any = None) -> Any:
    """The elements of any key that NumPy takes.

    Raises:
        IndexError: As NumPy, for keys that it does not take.
    """
    items = [_item(item) for item in (key if isinstance(key, tuple) else (key,))]
    rest = _rest(items, core.shape)
    shape, mismatch = _broadcast(items)
    axes: list[_Axis] = []
    final: list[Any] = []
    for item in items:
        if item is Ellipsis:
            axes += [_of_slice(slice(None), extent) for extent in core.shape[len(axes) : len(axes) + rest]]
        if item is None or item is Ellipsis or (isinstance(item, np.ndarray) and item.dtype == bool and item.ndim == 0):
            final.append(item)
            continue
        for axis in _axes(item, core.shape, len(axes), 0 in shape):
            axes.append(axis)
            final.append(axis)
    if mismatch is not None:
        raise IndexError(mismatch)
    axes += [_of_slice(slice(None), extent) for extent in core.shape[len(axes) :]]
    arrays = [axis for axis in axes if axis.positions is not None]
    if len(arrays) > 1 and _is_wasteful(axes, arrays):
        block = _points(core, axes, progress)
    else:
        block = _block(core, axes, progress)
    return block[tuple(item.within if isinstance(item, _Axis) else item for item in final)]


def outer(core: _tetfile.Selected, key: Any, progress: Any = None) -> Any:
    """The elements of a key whose arrays count for their own axis each: one array for an axis at most, of one axis.

    Raises:
        IndexError: A position is out of range, or an item is neither an integer, a slice, nor an array of one axis.
    """
    items = [_item(item) for item in (key if isinstance(key, tuple) else (key,))]
    rest = _rest(items, core.shape)
    axes: list[_Axis] = []
    for item in items:
        if item is Ellipsis:
            axes += [_of_slice(slice(None), extent) for extent in core.shape[len(axes) : len(axes) + rest]]
        elif item is None or (isinstance(item, np.ndarray) and item.ndim > 1):
            raise IndexError("oindex takes integers, slices, `...` and arrays of one axis")
        else:
            axes += _axes(item, core.shape, len(axes), False)
    axes += [_of_slice(slice(None), extent) for extent in core.shape[len(axes) :]]
    block = _block(core, axes, progress)
    # From the last axis on, so that axes that are dropped do not move the others.
    for at in reversed(range(len(axes))):
        within = axes[at].within
        if not (isinstance(within, slice) and within.step is None):
            block = block[(slice(None),) * at + (within,)]
    return block


def positions(item: Any, extent: int, axis: int) -> int | Pick:
    """What an item of a part is for one axis: an integer, a slice of any step, or an array of one axis.

    Raises:
        IndexError: A position is out of range, or the item is none of these.
    """
    item = _item(item)
    if isinstance(item, slice):
        start, stop, step = item.indices(extent)
        return even(np.arange(start, stop, step)) if step < 0 else (start, len(range(start, stop, step)), step)
    if item is None or item is Ellipsis or (isinstance(item, np.ndarray) and item.ndim != 1):
        raise IndexError("an axis takes an integer, a slice or an array of one axis")
    if not isinstance(item, np.ndarray):
        return int(_checked(np.asarray(_fitting(item)), extent, axis))
    if item.dtype != bool:
        return even(_checked(item, extent, axis))
    if len(item) != extent:
        raise IndexError(f"{len(item)} booleans select among {extent} positions of axis {axis}")
    return even(np.flatnonzero(item))


def _rest(items: list[Any], shape: tuple[int, ...]) -> int:
    """How many axes no item takes, which are those of ``...``."""
    used = sum(_width(item) for item in items)
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if used > len(shape):
        rank = len(shape)
        raise IndexError(f"too many indices for array: array is {rank}-dimensional, but {used} were indexed")
    return len(shape) - used


def _item(item: Any) -> Any:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if not isinstance(item, bool | np.bool_ | np.ndarray | list | tuple):
        try:
            return operator.index(item)
        except TypeError:
            pass
    if isinstance(item, str | bytes):
        raise IndexError(_NO_KEY)
    array = np.asarray(item)
    if array.size == 0 and not isinstance(item, np.ndarray):
        array = array.astype(np.intp)
    if array.dtype == bool:
        return array
    if array.dtype.kind in "iu":
        # NumPy takes an array of a wider type only where its numbers fit.
        return array.astype(np.intp, casting="same_kind") if array.dtype.kind == "i" else array.astype(np.intp)
    if isinstance(item, np.ndarray | list | tuple):
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    raise IndexError(_NO_KEY)


_NO_KEY = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays "
    "are valid indices"
)


def _width(item: Any) -> int:
    """How many axes an item takes."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, np.ndarray) and item.dtype == bool:
        return item.ndim
    return 1


def _broadcast(items: list[Any]) -> tuple[tuple[int, ...], str | None]:
    """The shape of the points that arrays pick, or why they have none in common.

    Where there are no points NumPy looks at none of the positions.
    """
    arrays = [item for item in items if isinstance(item, np.ndarray)]
    shapes = [(np.count_nonzero(item),) if item.dtype == bool else item.shape for item in arrays]
    try:
        return np.broadcast_shapes(*shapes), None
    except ValueError as error:
        return (), str(error)


def _axes(item: Any, shape: tuple[int, ...], axis: int, is_empty: bool) -> list[_Axis]:
    """What an item means for the axes that it takes, of which ``axis`` is the first."""
    if isinstance(item, slice):
        return [_of_slice(item, shape[axis])]
    if not isinstance(item, np.ndarray):
        position = int(_checked(np.asarray(_fitting(item)), shape[axis], axis))
        return [_Axis((position, 1, 1), 0)]
    if item.dtype != bool:
        if is_empty and item.ndim:
            return [_Axis((0, 0, 1), item, item)]
        return [_of_array(_checked(item, shape[axis], axis))]
    for at, extent in enumerate(item.shape):
        if extent != shape[axis + at]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + at}; size of axis is "
                f"{shape[axis + at]} but size of corresponding boolean axis is {extent}"
            )
    return [_of_array(positions) for positions in np.nonzero(item)]


def _fitting(number: int) -> int:
    if not -(1 << 63) <= number < 1 << 63:
        raise IndexError("cannot fit 'int' into an index-sized integer")
    return number


def _of_slice(item: slice, extent: int) -> _Axis:
    start, stop, step = item.indices(extent)
    count = len(range(start, stop, step))
    if count == 0:
        return _Axis((0, 0, 1), slice(None))
    if step < 0:
        return _Axis((start + (count - 1) * step, count, -step), slice(None, None, -1))
    return _Axis((start, count, step), slice(None))


def _checked(positions: Positions, extent: int, axis: int) -> Positions:
    """The positions counted from the start."""
    wrong = (positions < -extent) | (positions >= extent)
    if wrong.any():
        first = positions[wrong].flat[0]
        raise IndexError(f"index {first} is out of bounds for axis {axis} with size {extent}")
    return np.where(positions < 0, positions + extent, positions)


def _of_array(positions: Positions) -> _Axis:
    if positions.size == 0:
        return _Axis((0, 0, 1), positions, positions)
    unique, within = np.unique(positions, return_inverse=True)
    return _Axis(even(unique), within.reshape(positions.shape), positions)


def even(positions: Positions) -> Pick:
    """Positions as (start, count, step) where they are at equal distances, in increasing order."""
    count = len(positions)
    if count == 0:
        return 0, 0, 1
    step = int(positions[1] - positions[0]) if count > 1 else 1
    if step > 0 and (count < 3 or bool((np.diff(positions) == step).all())):
        return int(positions[0]), count, step
    return positions.astype(np.uint64)


def _block(core: _tetfile.Selected, axes: list[_Axis], progress: Any) -> Any:
    return _tetfile.read(_tetfile.select(core, [axis.pick for axis in axes]), progress)


def _is_wasteful(axes: list[_Axis], arrays: list[_Axis]) -> bool:
    points = prod(np.broadcast_shapes(*(axis.within.shape for axis in arrays)))
    block = prod(axis.count for axis in axes)
    needed = prod(axis.count for axis in axes if axis.positions is None) * points
    return block > _BLOCK_MAX and block > _WASTE_MAX * needed


def _points(core: _tetfile.Selected, axes: list[_Axis], progress: Any) -> Any:
    """Points along the first axis that has an array; the other ones are left with one position.

    The keys of these axes count the points afterwards.
    """
    at = [number for number, axis in enumerate(axes) if axis.positions is not None]
    shape = np.broadcast_shapes(*(axes[number].within.shape for number in at))
    positions = [np.broadcast_to(_positions(axes[number]), shape).ravel() for number in at]
    grid = core.chunks
    chunks = np.stack([where // grid[number] for number, where in zip(at, positions, strict=True)])
    _, group = np.unique(chunks, axis=1, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    cuts = np.flatnonzero(np.diff(group.ravel()[order])) + 1
    out: Any = None
    for members in np.split(order, cuts):
        near = [_of_array(where[members]) for where in positions]
        for number, axis in zip(at, near, strict=True):
            axes[number].pick = axis.pick
        block = np.moveaxis(_block(core, axes, progress), at, range(len(at)))
        found = block[tuple(axis.within for axis in near)]
        if out is None:
            out = np.empty((len(order), *found.shape[1:]), found.dtype)
        out[members] = found
    for number in at:
        axes[number].within = np.zeros(shape, np.intp)
    axes[at[0]].within = np.arange(len(order)).reshape(shape)
    out = np.moveaxis(out, 0, at[0])
    return np.expand_dims(out, at[1:])


def _positions(axis: _Axis) -> Positions:
    assert axis.positions is not None
    return axis.positions
