"""What an operation makes of the elements of one cell, and how far off an answer may be.

A cell is `(value, tolerance)`: the value is `None` for null, and a tolerance of `ANY` accepts
everything, for the numbers on which plain NumPy itself is not to be trusted.
"""

import math
from fractions import Fraction

import numpy as np

import exact

ANY = math.inf
INT128 = (-(2**127), 2**127 - 1)

COUNTS = ("count", "nan_count", "inf_count", "null_count", "arg_min", "arg_max")
TRUTHS = ("all_finite", "any_nan", "any_inf")
STREAMED = COUNTS[:4] + TRUTHS + (
    "sum", "product", "mean", "min", "max", "var", "std", "norm_l1", "norm_l2",
    "nan_sum", "nan_mean", "nan_var", "nan_std", "nan_min", "nan_max")
ORDERED = ("median", "quantile")
MATRICES = ("covariance", "correlation")
ALL = STREAMED + ("arg_min", "arg_max") + ORDERED + ("histogram",) + MATRICES


class Refused(Exception):
    """The documented answer is an error."""


def kind_of(op, dtype):
    """How the cells of a result are written."""
    plain = op.removeprefix("nan_") if op != "nan_count" else op
    if op in COUNTS:
        return "int"
    if op in TRUTHS:
        return "truth"
    if plain in ("min", "max"):
        return "element"
    return "int" if plain in ("sum", "product") and dtype.kind != "f" else "float"


def reduced(op, values, places, skips, whole, params):
    """The cell of `values`, which lie at `places` along the folded axes."""
    if op.startswith("nan_") and op != "nan_count":
        op, skips = op.removeprefix("nan_"), True
    if skips and values.dtype.kind == "f":
        there = ~np.isnan(values)
        values, places = values[there], places[there]
    wide = values.astype(np.float64)
    if op in COUNTS or op in TRUTHS:
        return counted(op, values, wide, places, params), 0.0
    if op in ("sum", "mean"):
        return summed(op, values, wide, whole)
    if op == "product":
        return multiplied(values, wide)
    if op in ("min", "max"):
        return extremum(op, values), 0.0
    if op in ("var", "std"):
        return spread(op, values, wide, params.get("ddof", 0))
    if op in ("norm_l1", "norm_l2"):
        return norm(op, values, wide)
    raise AssertionError(op)


def counted(op, values, wide, places, params):
    """Counts, truths and places: exact."""
    match op:
        case "count":
            return len(values)
        case "nan_count":
            return int(np.isnan(wide).sum())
        case "inf_count":
            return int(np.isinf(wide).sum())
        case "null_count":
            return int(equals_fill(values, params["fill"]).sum())
        case "all_finite":
            return bool(np.isfinite(wide).all())
        case "any_nan":
            return bool(np.isnan(wide).any())
        case "any_inf":
            return bool(np.isinf(wide).any())
    if len(values) == 0:
        return None
    return int(places[np.argmin(values) if op == "arg_min" else np.argmax(values)])


def equals_fill(values, fill):
    """Which values are the fill value; NaN are when it is NaN."""
    if isinstance(fill, float) and math.isnan(fill):
        return np.isnan(values.astype(np.float64))
    listed, fill = comparable(values, fill)
    return np.array([value == fill for value in listed], bool)


def comparable(values, number):
    """The values and a number as Python compares them exactly: the number at the values' width."""
    if values.dtype.kind == "f" and abs(number) <= np.finfo(values.dtype).max:
        number = values.dtype.type(number).item()
    return values.tolist(), number


def ulp(value):
    """The distance between doubles there."""
    return math.ulp(value) if math.isfinite(value) else 0.0


def summed(op, values, wide, whole):
    """Exact for integers; for floats within the bound, and exact over a whole selection."""
    count = len(values)
    if op == "mean" and count == 0:
        return None, 0.0
    if values.dtype.kind != "f":
        total = sum(values.tolist())
        return (total, 0.0) if op == "sum" else (total / count, 0.0)
    if not np.isfinite(wide).all():
        with np.errstate(invalid="ignore"):
            return float(wide[~np.isfinite(wide)].sum()), 0.0
    value = exact.rounded(exact.total(wide))
    magnitude = exact.rounded(exact.total(np.abs(wide)))
    if not math.isfinite(magnitude):
        return value, ANY
    single = values.dtype.itemsize < 8
    bound = 2.0**-46 if single else count**2 * 2.0**-104
    tolerance = 0.0 if whole and single else ulp(value) + bound * magnitude
    if op == "mean":
        value, tolerance = value / count, tolerance / count + (ulp(value / count) if tolerance else 0)
    return value, tolerance


def multiplied(values, wide):
    """Exact for integers, an error past 128 bits; floats to a few roundings."""
    if values.dtype.kind != "f":
        value = math.prod(values.tolist())
        if not INT128[0] <= value <= INT128[1]:
            raise Refused("overflow")
        return value, 0.0
    if not np.isfinite(wide).all():
        negative = (np.signbit(wide).sum() % 2) == 1
        undone = np.isnan(wide).any() or (wide == 0).any()
        return math.nan if undone else (-math.inf if negative else math.inf), 0.0
    product = exact.product(wide)
    value = exact.rounded(product)
    relative = (len(wide) + 1) * 2.0**-53
    if abs(product) >= Fraction(np.finfo(np.float64).max) / 2:
        beyond = abs(product) >= 2 * Fraction(np.finfo(np.float64).max)
        return value, 0.0 if beyond else ANY
    return value, abs(value) * relative + math.ulp(0.0)


def extremum(op, values):
    """The dtype's own value; NaN propagates, -0.0 lies below 0.0."""
    if len(values) == 0:
        return None
    if values.dtype.kind != "f":
        return int(values.min() if op == "min" else values.max())
    value = float(values.min() if op == "min" else values.max())
    if value == 0.0:
        zeros = np.signbit(values[values == 0])
        return -0.0 if (zeros.any() if op == "min" else zeros.all()) else 0.0
    return value


def spread(op, values, wide, ddof):
    """Variance and deviation, compared where NumPy's two passes come within 1e-13."""
    count = len(wide)
    if count == 0:
        return None, 0.0
    numpys = float(np.var(wide, ddof=ddof) if op == "var" else np.std(wide, ddof=ddof))
    if count <= ddof and len(set(values.tolist())) > 1:
        return math.inf if np.isfinite(wide).all() else numpys, 0.0
    if count <= ddof or not np.isfinite(wide).all():
        return numpys, 0.0
    value = exact.variance(wide, ddof)
    if values.dtype.kind != "f" and value != whole_variance(values.tolist(), ddof):
        return numpys, ANY
    return trusted(numpys, value if op == "var" else exact.root(value))


def whole_variance(values, ddof):
    """The variance of whole numbers, of which doubles may know only the front digits."""
    count = len(values)
    above = count * sum(value * value for value in values) - sum(values) ** 2
    return Fraction(above, count * (count - ddof))


def norm(op, values, wide):
    """Norms to 1e-12."""
    if not np.isfinite(wide).all():
        return (math.nan if np.isnan(wide).any() else math.inf), 0.0
    if op == "norm_l1":
        total = exact.total(np.abs(wide)) if values.dtype.kind == "f" else \
            Fraction(sum(abs(value) for value in values.tolist()))
        return trusted(float(np.abs(wide).sum()), total)
    squares = exact.squares(wide) if values.dtype.kind == "f" else \
        Fraction(sum(value * value for value in values.tolist()))
    return trusted(float(np.sqrt(np.square(wide).sum())), exact.root(squares))


def trusted(numpys, value):
    """The exact value to 1e-12, if plain NumPy comes within 1e-13 of it."""
    near = exact.rounded(value)
    if not math.isfinite(near) or not math.isfinite(numpys):
        return near, ANY
    if value != 0 and abs(value) < Fraction(10) ** -280:
        return near, ANY
    if abs(Fraction(numpys) - value) > Fraction(1, 10**13) * abs(value):
        return near, ANY
    return near, 1e-12 * abs(near)
