"""Which elements make up which cell: kept axes, folded ones, groups, windows.

Every axis of the selection is a list of lanes, and a lane is a list of selected positions, where
`PAD` stands for one that reaches past the end. Cells are the products of lanes, row-major.
"""

import itertools

import numpy as np

PAD = -1


def lanes(spec, axis, count, labels):
    """The lanes of an axis with `count` selected positions, whether the result has the axis, and
    whether positions along it tell the elements of a cell apart."""
    window = spec.window
    if window is not None and window["axis"] == axis:
        return windows(window, count), True, True
    picked = list(range(count))
    if spec.label_filter is not None and spec.label_filter[0] == axis:
        picked = [nth for nth in picked if labels[axis][nth] == spec.label_filter[1]]
    if spec.group is not None and axis in spec.group[1]:
        if spec.group[0] == "axes":
            return [[nth] for nth in picked], True, False
        return label_groups(labels[axis], picked), True, True
    if axis in spec.folded:
        return [picked], False, True
    return [[nth] for nth in picked], True, False


def label_groups(labels, picked):
    """Positions of equal labels, in order of the first."""
    groups = {}
    for nth in picked:
        groups.setdefault(labels[nth], []).append(nth)
    return list(groups.values())


def windows(window, count):
    """The windows over `count` positions."""
    size, start_first = window["size"], window.get("align", "start") == "start"
    padded = window.get("pad", "none") != "none"
    if window["mode"] == "bins":
        number = -(-count // size)
        first = 0 if start_first else count - number * size
        starts = [first + nth * size for nth in range(number)]
    elif not padded:
        starts = range(0, count - size + 1, window.get("step", 1))
    elif start_first:
        starts = range(1 - size, count - size + 1, window.get("step", 1)) if count else []
    else:
        starts = range(0, count, window.get("step", 1))
    return [window_positions(start, size, count, padded) for start in starts]


def window_positions(start, size, count, padded):
    """The positions of one window, with pads or without."""
    places = [at if 0 <= at < count else PAD for at in range(start, start + size)]
    return places if padded else [at for at in places if at != PAD]


def cells(axes_lanes, values, passes, pad):
    """Every cell: its elements with the pads, their places, and the elements without the pads."""
    counts = values.shape
    strides, stride = {}, 1
    for axis in reversed([axis for axis, (_, _, told) in enumerate(axes_lanes) if told]):
        strides[axis], stride = stride, stride * counts[axis]
    for choice in itertools.product(*(range(len(lanes)) for lanes, _, _ in axes_lanes)):
        lists = [lanes[nth] for nth, (lanes, _, _) in zip(choice, axes_lanes)]
        yield cell(lists, values, passes, pad, strides)


def cell(lists, values, passes, pad, strides):
    """The elements of one cell."""
    if not any(PAD in list_ for list_ in lists):
        grid = np.ix_(*[np.array(list_, np.int64) for list_ in lists])
        there = passes[grid].ravel()
        places = np.zeros(passes[grid].shape, np.int64)
        for axis, stride in strides.items():
            shape = [1] * len(lists)
            shape[axis] = len(lists[axis])
            places = places + np.array(lists[axis], np.int64).reshape(shape) * stride
        return values[grid].ravel()[there], places.ravel()[there], values[grid].ravel()[there]
    elements, real = [], []
    for position in itertools.product(*lists):
        if PAD in position:
            elements.append(pad)
        elif passes[position]:
            elements.append(values[position])
            real.append(values[position])
    dtype = values.dtype
    return np.array(elements, dtype), np.zeros(len(elements), np.int64), np.array(real, dtype)
