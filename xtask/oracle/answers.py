"""The answer to a document, by NumPy and Python's integers alone."""

import math
import operator
from fractions import Fraction

import numpy as np

import cells
import exact
import reductions
import transforms
from reductions import ANY, Refused

COMPARISONS = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
               "le": operator.le, "gt": operator.gt, "ge": operator.ge}


class Unanswered(Exception):
    """NumPy has no answer."""


def answer(array, spec):
    """What the suite compares with: kind, shape, values, tolerances."""
    values = array.values[tuple(slice(start, stop, step) for start, stop, step, _ in spec.slices)]
    labels = selected_labels(array, spec)
    passes = passing(array, spec, values)
    try:
        if spec.op is None:
            return array_answer(array, spec, values, labels, passes)
        if spec.op in reductions.MATRICES:
            return matrix(spec, values)
        return reduced(array, spec, values, labels, passes)
    except Refused as refusal:
        return {"error": str(refusal)}


def selected_labels(array, spec):
    """The labels of the selected positions, axis by axis."""
    found = {}
    for axis, (start, stop, step, _) in enumerate(spec.slices):
        name = array.dims[axis] if array.dims else str(axis)
        if name in array.coords:
            found[axis] = array.coords[name][start:stop:step]
    return found


def passing(array, spec, values):
    """Which elements pass the filter."""
    if spec.filter is None:
        return np.ones(values.shape, bool)
    passes = np.ones(values.size, bool)
    for key, number in spec.filter.items():
        if key in COMPARISONS:
            elements, number = reductions.comparable(values.ravel(), number)
            passes &= np.array([COMPARISONS[key](it, number) for it in elements], bool)
            continue
        null = np.isnan(values.ravel().astype(np.float64))
        if array.fill is not None:
            null = null | reductions.equals_fill(values.ravel(), array.fill)
        passes &= null if key == "is_null" else ~null
    return passes.reshape(values.shape)


def axes_lanes(spec, values, labels):
    """The lanes of every axis; a dropped one has its one position and is not shown."""
    found = []
    for axis, count in enumerate(values.shape):
        if spec.slices[axis][3]:
            found.append(([[0]], False, True))
        else:
            found.append(cells.lanes(spec, axis, count, labels))
    return found


def pad_of(array, spec):
    """What stands past the ends of a window."""
    pad = (spec.window or {}).get("pad", "none")
    number = {"none": 0, "0": 0, "nan": math.nan, "fill": array.fill}[pad]
    return array.values.dtype.type(number) if pad != "none" else None


def reduced(array, spec, values, labels, passes):
    """One value for every cell, or as many as the operation gives."""
    lanes = axes_lanes(spec, values, labels)
    shape = [len(list_) for list_, shown, _ in lanes if shown]
    found = list(cells.cells(lanes, values, passes, pad_of(array, spec)))
    if spec.op == "histogram":
        return histogram(spec, shape, values.dtype, [elements for elements, _, _ in found])
    if spec.op in reductions.ORDERED:
        return ordered(spec, shape, found)
    whole = not any(shown for _, shown, _ in lanes)
    skips = spec.skips or spec.op.startswith("nan_") and spec.op != "nan_count"
    least = (spec.window or {}).get("min_count")
    answers = []
    for elements, places, real in found:
        counted = len(real)
        if skips and values.dtype.kind == "f":
            counted = int((~np.isnan(real)).sum())
        if least is not None and counted < least:
            answers.append((None, 0.0))
            continue
        answers.append(
            reductions.reduced(spec.op, elements, places, spec.skips, whole, spec.params))
    return written(reductions.kind_of(spec.op, values.dtype), shape, answers)


def ordered(spec, shape, found):
    """Medians and quantiles, by NumPy on doubles."""
    q = spec.params.get("q")
    several = isinstance(q, list)
    rows = [[] for _ in (q if several else [q])]
    for elements, _, _ in found:
        wide = elements.astype(np.float64)
        wide = wide[~np.isnan(wide)] if spec.skips else wide
        for row, asked in zip(rows, q if several else [q]):
            if len(wide) == 0:
                row.append((None, 0.0))
            elif spec.op == "median":
                row.append((median(wide), 0.0))
            else:
                row.append((float(np.quantile(wide, asked)), 0.0))
    answers = [cell for row in rows for cell in row]
    return written("float", ([len(q)] if several else []) + shape, answers)


def median(wide):
    """NumPy's median, but of two that it cannot add."""
    value = float(np.median(wide))
    if math.isinf(value) and np.isfinite(wide).all():
        return float(np.median(wide / 4) * 4)
    return value


def histogram(spec, shape, dtype, found):
    """Counts, edges and what lies outside, by NumPy on the dtype's own values."""
    there = [elements[~np.isnan(elements.astype(np.float64))] for elements in found]
    every = np.concatenate(there) if there else np.array([], dtype)
    span = None
    if "min" in spec.params:
        span = (spec.params["min"], spec.params["max"])
    elif not np.isfinite(every.astype(np.float64)).all():
        raise Refused("range")
    bins = spec.params["bins"]
    try:
        edges = np.histogram_bin_edges(every, bins, range=span)
    except ValueError as error:
        raise Unanswered from error
    if not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise Unanswered
    counts, below, above = [], [], []
    for elements in there:
        counts.extend(int(count) for count in by_edges(elements, edges))
        below.append(int((elements < edges[0]).sum()))
        above.append(int((elements > edges[-1]).sum()))
    want = written("int", shape + [bins], [(count, 0.0) for count in counts])
    want["edges"] = " ".join(repr(float(edge)) for edge in edges)
    want["below"], want["above"] = below, above
    return want


def by_edges(elements, edges):
    """How many elements lie between each two edges; the last bin is closed."""
    counts = [((edges[nth] <= elements) & (elements < edges[nth + 1])).sum()
              for nth in range(len(edges) - 1)]
    counts[-1] += (elements == edges[-1]).sum()
    return counts


def matrix(spec, values):
    """Covariances or correlations of the rows across the observation axis."""
    rows = values.reshape([count for count, part in zip(values.shape, spec.slices) if not part[3]])
    rows = rows.astype(np.float64)
    if spec.folded[0] == spec.kept[0]:
        rows = rows.T
    count = len(rows)
    ddof = spec.params.get("ddof", 0)
    if spec.op == "covariance":
        numpys = np.atleast_2d(np.cov(rows, ddof=ddof))
    else:
        numpys = np.atleast_2d(np.corrcoef(rows))
    answers = [pair(spec.op, rows[left], rows[right], numpys[left, right], ddof)
               for left in range(count) for right in range(count)]
    return written("float", [count, count], answers)


def pair(op, left, right, numpys, ddof):
    """One covariance or correlation, compared where NumPy comes within 1e-11 of the exact one."""
    numpys = float(numpys)
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return (math.nan, 0.0) if math.isnan(numpys) else (numpys, ANY)
    spreads = exact.root(exact.variance(left, ddof) * exact.variance(right, ddof))
    together = exact.covariance(left, right, ddof)
    if op == "correlation":
        if spreads == 0:
            return math.nan, 0.0 if math.isnan(numpys) else ANY
        together, spreads = together / spreads, 1
        together = max(min(together, 1), -1)
    scale = exact.rounded(Fraction(spreads))
    value = exact.rounded(together)
    if not all(map(math.isfinite, (value, scale, scale * len(left), numpys))):
        return value, ANY
    if abs(numpys - value) > 1e-11 * scale or 0 < scale < 1e-280:
        return value, ANY
    return value, 1e-10 * scale


def array_answer(array, spec, values, labels, passes):
    """The values, transformed or not, with what fails the filter replaced."""
    lanes = axes_lanes(spec, values, labels)
    shape = [len(list_) for list_, shown, _ in lanes if shown]
    grid = np.ix_(*[np.array([nth for lane in list_ for nth in lane], np.int64)
                    for list_, _, _ in lanes])
    values, passes = values[grid], passes[grid]
    if spec.method is None:
        fill = math.nan if values.dtype.kind == "f" else array.fill
        if not passes.all():
            values = np.where(passes, values, values.dtype.type(fill))
        answers = [(value, 0.0) for value in values.ravel().tolist()]
        kind = "array"
    else:
        answers = transforms.transformed(spec, values, passes)
        kind = "array"
    want = written(kind, shape, answers)
    floats = values.dtype.kind == "f" or spec.method is None
    want["dtype"] = values.dtype.name if floats else "float64"
    return want


def written(kind, shape, answers):
    """Values and tolerances as text: shortest decimals, `-` for null, `*` for anything."""
    want = {"kind": kind, "shape": shape, "values": " ".join(text(it, tol) for it, tol in answers)}
    if any(tolerance not in (0.0, ANY) for _, tolerance in answers):
        want["tolerances"] = " ".join(
            "0" if tolerance in (0.0, ANY) else f"{tolerance * 1.01:.2e}" for _, tolerance in answers)
    return want


def text(value, tolerance):
    """One value."""
    if tolerance == ANY:
        return "*"
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "T" if value else "F"
    return repr(value)
