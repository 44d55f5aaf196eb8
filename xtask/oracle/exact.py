"""Sums, moments and products without rounding, in Python's own integers."""

import math
from fractions import Fraction

import numpy as np

ROOT_BITS = 140


def units(values):
    """Finite floats as whole numbers of one power of two: the numbers and its exponent."""
    mantissas, exponents = np.frexp(np.asarray(values, np.float64))
    wholes = (mantissas * 2.0**53).astype(np.int64)
    exponents = exponents.astype(np.int64) - 53
    least = int(exponents[wholes != 0].min()) if np.any(wholes) else 0
    shifts = np.where(wholes != 0, exponents - least, 0)
    return [int(whole) << int(shift) for whole, shift in zip(wholes, shifts)], least


def scaled(number, exponent):
    """`number * 2**exponent` as a fraction."""
    return Fraction(number) * Fraction(2) ** exponent


def total(values):
    """The sum of finite floats."""
    wholes, exponent = units(values)
    return scaled(sum(wholes), exponent)


def variance(values, ddof):
    """The variance of finite floats; the count is more than `ddof`."""
    wholes, exponent = units(values)
    count = len(wholes)
    above = count * sum(whole * whole for whole in wholes) - sum(wholes) ** 2
    return scaled(above, 2 * exponent) / (count * (count - ddof))


def covariance(left, right, ddof):
    """The covariance of two rows of finite floats."""
    (lefts, low), (rights, high) = units(left), units(right)
    count = len(lefts)
    above = count * sum(a * b for a, b in zip(lefts, rights)) - sum(lefts) * sum(rights)
    return scaled(above, low + high) / (count * (count - ddof))


def squares(values):
    """The sum of squares of finite floats."""
    wholes, exponent = units(values)
    return scaled(sum(whole * whole for whole in wholes), 2 * exponent)


def product(values):
    """The product of finite floats."""
    wholes, exponent = units(values)
    return scaled(math.prod(wholes), exponent * len(wholes))


def root(fraction):
    """The square root, to far more bits than a double has."""
    if fraction == 0:
        return Fraction(0)
    above, below = fraction.numerator, fraction.denominator
    shift = max(0, ROOT_BITS - (above.bit_length() - below.bit_length()) // 2)
    return Fraction(math.isqrt((above << 2 * shift) // below), 1 << shift)


def rounded(fraction):
    """The nearest double; infinite past the largest."""
    try:
        return fraction.numerator / fraction.denominator
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf
