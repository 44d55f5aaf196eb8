"""Transforms by their definitions, with exact means, deviations and sums beneath."""

import itertools
import math
from fractions import Fraction

import numpy as np

import exact
import reductions
from reductions import ANY

#: How far off a transform may be, in steps of a float that is not a double.
STEPS = {"softmax": 4, "log1p": 4}

#: The methods that need every digit of whole numbers.
EVERY_DIGIT = ("zscore", "scale", "center")


def transformed(spec, values, passes):
    """The transformed elements, row-major, each with its tolerance."""
    axes = spec.method_axes if spec.method_axes is not None else range(values.ndim)
    found = np.empty(values.shape, object)
    target = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    others = [range(1) if axis in axes else range(count)
              for axis, count in enumerate(values.shape)]
    for start in itertools.product(*others):
        lane = tuple(slice(None) if axis in axes else slice(at, at + 1)
                     for axis, at in enumerate(start))
        elements = values[lane].ravel().astype(np.float64)
        chosen = passes[lane].ravel()
        results = lane_of(spec.method, elements, chosen, spec.skips)
        if values.dtype.kind != "f" and spec.method in EVERY_DIGIT and is_blurred(values[lane][passes[lane]]):
            results = [(value, 0.0 if not there else ANY) for (value, _), there in zip(results, chosen)]
        cells = np.empty(len(elements), object)
        for nth, (result, tolerance) in enumerate(results):
            cells[nth] = stored(spec.method, result, tolerance, target)
        found[lane] = cells.reshape(found[lane].shape)
    return list(found.ravel())


def is_blurred(whole):
    """Whether doubles know too few digits of whole numbers to tell how far they are apart."""
    if len(whole) == 0:
        return False
    known = exact.variance(whole.astype(np.float64), 0)
    return known != reductions.whole_variance(whole.tolist(), 0)


def stored(method, value, tolerance, target):
    """A result as it is stored in its type."""
    if target == np.float64 or tolerance == ANY:
        return value, tolerance
    with np.errstate(over="ignore"):
        kept = target.type(value)
    if not np.isfinite(kept):
        return float(kept), 0.0 if math.isnan(value) or math.isinf(value) else ANY
    step = float(np.spacing(np.abs(kept)))
    return float(kept), tolerance + step * STEPS.get(method, 1)


def lane_of(method, elements, chosen, skips):
    """The results of one lane; what is not chosen is NaN and counts for nothing."""
    counted = elements[chosen]
    if skips:
        counted = counted[~np.isnan(counted)]
    with np.errstate(all="ignore"):
        results = METHODS[method](elements, counted)
    return [result if there else (math.nan, 0.0) for result, there in zip(results, chosen)]


def close(values, slack=0.0):
    """Results to 1e-12 of themselves, and `slack` beside."""
    values = np.asarray(values, np.float64)
    slack = np.broadcast_to(slack, values.shape)
    return [(float(value), 1e-12 * abs(float(value)) + float(more)
             if math.isfinite(value) else 0.0) for value, more in zip(values, slack)]


def anything(elements):
    """Results that are not compared; NaN of NaN are."""
    return [(math.nan, 0.0 if math.isnan(value) else ANY) for value in elements]


def mean_of(counted):
    """The mean, exact and then rounded."""
    if len(counted) == 0:
        return math.nan
    if not np.isfinite(counted).all():
        return float(counted[~np.isfinite(counted)].sum())
    return exact.rounded(exact.total(counted) / len(counted))


def deviation_of(counted):
    """The deviation, or nothing where NumPy's two passes are off by more than 1e-13."""
    if len(counted) == 0 or not np.isfinite(counted).all():
        return math.nan
    value = exact.root(exact.variance(counted, 0))
    numpys = float(np.std(counted))
    if not math.isfinite(numpys) or abs(Fraction(numpys) - value) > value / 10**13:
        return None
    return exact.rounded(value)


def zscore(elements, counted):
    mean, deviation = mean_of(counted), deviation_of(counted)
    if deviation is None or math.isinf(mean) and np.isfinite(counted).all():
        return anything(elements)
    slack = 1e-12 * (np.abs(elements) + abs(mean)) / deviation if deviation > 0 else 0.0
    return divided(elements - mean, deviation, np.nan_to_num(slack, posinf=0.0))


def scale(elements, counted):
    deviation = deviation_of(counted)
    return anything(elements) if deviation is None else divided(elements, deviation)


def center(elements, counted):
    mean = mean_of(counted)
    if np.isfinite(counted).all() and not math.isfinite(exact.rounded(exact.total(np.abs(counted)))):
        return anything(elements)
    slack = np.nan_to_num(1e-15 * (np.abs(elements) + abs(mean)), posinf=0.0)
    return close(elements - mean, slack)


def minmax(elements, counted):
    if len(counted) == 0:
        return [(math.nan, 0.0)] * len(elements)
    low, high = float(np.min(counted)), float(np.max(counted))
    if math.isinf(high - low) and math.isfinite(high) and math.isfinite(low):
        return anything(elements)
    return divided(elements - low, high - low)


def norm_l1(elements, counted):
    if not np.isfinite(counted).all():
        return divided(elements, float(np.abs(counted).sum()))
    total = exact.rounded(exact.total(np.abs(counted)))
    return anything(elements) if math.isinf(total) else divided(elements, total)


def norm_l2(elements, counted):
    if not np.isfinite(counted).all():
        return divided(elements, math.nan if np.isnan(counted).any() else math.inf)
    root = exact.root(exact.squares(counted))
    numpys = float(np.sqrt(np.square(counted).sum()))
    if math.isinf(numpys) or abs(Fraction(numpys) - root) > root / 10**13:
        return anything(elements)
    return divided(elements, exact.rounded(root))


def divided(above, below, slack=0.0):
    """A division; nothing can be divided by zero, not even itself."""
    if below == 0:
        return [(math.nan, 0.0)] * len(above)
    return close(above / below, slack)


def log1p(elements, _counted):
    return close(np.log1p(elements))


def square_root(elements, _counted):
    return close(np.sqrt(elements))


def softmax(elements, counted):
    if len(counted) == 0:
        return [(math.nan, 0.0)] * len(elements)
    powers = np.exp(counted - np.max(counted))
    total = math.nan if np.isnan(powers).any() else math.fsum(powers)
    return close(np.exp(elements - np.max(counted)) / total, 5e-324)


METHODS = {"zscore": zscore, "minmax": minmax, "l1": norm_l1, "l2": norm_l2, "center": center,
           "scale": scale, "log1p": log1p, "sqrt": square_root, "softmax": softmax}
