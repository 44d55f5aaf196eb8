"""Arrays that are asked about: every dtype, odd values, odd chunks, names, labels, fill values."""

import dataclasses

import numpy as np

DTYPES = ("float16", "float32", "float64", "int16", "int32", "int64",
          "uint8", "uint16", "uint32", "uint64")
NAMES = ("time", "lat", "lon", "level", "member", "x", "1", "a b")
WORDS = ("mon", "tue", "wed", "thu", "fri", "sat")


@dataclasses.dataclass
class Array:
    """An array with all that stands about it in a file."""

    values: np.ndarray
    chunk_shape: list
    codec: str
    dims: list
    coords: dict
    attrs: dict

    @property
    def fill(self):
        """The fill value as the file knows it: a number, or nothing."""
        for key in ("_FillValue", "missing_value"):
            if key in self.attrs:
                return number_of(self.attrs[key])
        return None

    def sheet(self):
        """What the suite needs to build the file."""
        little = self.values.astype(self.values.dtype.newbyteorder("<"))
        return {
            "dtype": self.values.dtype.name,
            "shape": list(self.values.shape),
            "chunk_shape": self.chunk_shape,
            "codec": self.codec,
            "dims": self.dims,
            "coords": self.coords,
            "attrs": self.attrs,
            "elements": little.tobytes().hex(),
        }


def number_of(attr):
    """The number an attribute holds, as text or by itself."""
    if isinstance(attr, str):
        return float(attr) if any(sign in attr.lower() for sign in ".en") else int(attr)
    return attr


def random_array(rng, size_max):
    """An array of at most about `size_max` elements."""
    dtype = np.dtype(DTYPES[int(rng.integers(len(DTYPES)))])
    shape = random_shape(rng, size_max)
    values = random_values(rng, dtype, shape)
    attrs = random_fill(rng, values)
    dims = []
    if rng.random() < 0.6:
        dims = [str(name) for name in rng.permutation(NAMES)[: len(shape)]]
    coords = {}
    for axis, extent in enumerate(shape):
        if rng.random() < 0.5:
            coords[dims[axis] if dims else str(axis)] = random_labels(rng, extent)
    return Array(values, random_chunk_shape(rng, shape), str(rng.choice(["raw", "zstd"])),
                 dims, coords, attrs)


def random_shape(rng, size_max):
    """Ranks 1 to 5; rarely an extent of nothing."""
    rank = int(rng.choice([1, 2, 3, 4, 5], p=[0.2, 0.3, 0.25, 0.15, 0.1]))
    most = {1: size_max, 2: 14, 3: 7, 4: 5, 5: 4}[rank]
    while True:
        shape = [int(extent) for extent in rng.integers(1, most + 1, rank)]
        if rng.random() < 0.02:
            shape[int(rng.integers(rank))] = 0
        if np.prod(shape) <= size_max:
            return shape


def random_chunk_shape(rng, shape):
    """Extents that divide, that do not, and that reach past the end."""
    chunk_shape = []
    for extent in shape:
        kind = rng.random()
        if kind < 0.3:
            chunk_shape.append(max(extent, 1))
        elif kind < 0.4:
            chunk_shape.append(extent + int(rng.integers(1, 4)))
        else:
            chunk_shape.append(int(rng.integers(1, max(extent, 1) + 1)))
    return chunk_shape


def random_labels(rng, extent):
    """Words that come back, words that do not, or numbers in order."""
    kind = rng.random()
    if kind < 0.5:
        return [str(word) for word in rng.choice(WORDS[: int(rng.integers(1, 7))], extent)]
    if kind < 0.75:
        return [f"s{number}" for number in rng.permutation(extent)]
    return [str(10 * number) for number in range(extent)]


def random_fill(rng, values):
    """Sometimes a fill value, in one of the ways files say it."""
    if rng.random() < 0.5:
        return {}
    if values.size and rng.random() < 0.7:
        fill = values.flat[int(rng.integers(values.size))].item()
    else:
        fill = -999.0 if values.dtype.kind == "f" else 99
    if isinstance(fill, float) and not np.isfinite(fill):
        fill = str(fill) if np.isnan(fill) else 0.0
    elif rng.random() < 0.3:
        fill = repr(fill)
    return {str(rng.choice(["_FillValue", "missing_value"])): fill}


def random_values(rng, dtype, shape):
    """Values of one temper."""
    flat = floats(rng, dtype, int(np.prod(shape))) if dtype.kind == "f" else \
        integers(rng, dtype, int(np.prod(shape)))
    return np.asarray(flat, dtype=dtype).reshape(shape)


def floats(rng, dtype, count):
    """Tame, wild, constant, shifted, few, special."""
    kind = rng.choice(["normal", "quarters", "wild", "constant", "shifted", "few", "special"],
                      p=[0.25, 0.15, 0.15, 0.08, 0.07, 0.1, 0.2])
    with np.errstate(over="ignore"):
        match kind:
            case "normal":
                return (rng.normal(size=count) * 10.0 ** rng.integers(-3, 4)).astype(dtype)
            case "quarters":
                return (rng.integers(-40, 40, count) / 4).astype(dtype)
            case "wild":
                return any_bits(rng, dtype, count, finite=True)
            case "constant":
                return np.full(count, rng.choice([0.1, 3.0, 0.0, -0.0, -7.25]), dtype)
            case "shifted":
                return (10.0 ** rng.integers(2, 7) + rng.normal(size=count)).astype(dtype)
            case "few":
                return rng.choice(np.array([1.5, -2.0, 0.0, -0.0, 8.0], dtype), count)
    values = rng.normal(size=count).astype(dtype)
    if rng.random() < 0.3:
        values = any_bits(rng, dtype, count, finite=False)
    info = np.finfo(dtype)
    special = np.array([np.nan, np.nan, np.inf, -np.inf, -0.0, 0.0, info.max, -info.max,
                        info.smallest_subnormal, -info.smallest_subnormal, info.tiny], dtype)
    chosen = special[: int(rng.integers(1, len(special) + 1))]
    odd = rng.random(count) < rng.choice([0.05, 0.3, 1.0], p=[0.45, 0.45, 0.1])
    return np.where(odd, rng.choice(chosen, count), values).astype(dtype)


def any_bits(rng, dtype, count, finite):
    """Any bits at all."""
    values = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).copy()
    if finite:
        values[~np.isfinite(values)] = 1.0
    return values


def integers(rng, dtype, count):
    """Small, any, extreme, constant, few."""
    info = np.iinfo(dtype)
    kind = rng.choice(["small", "any", "extreme", "constant", "few"],
                      p=[0.4, 0.25, 0.15, 0.1, 0.1])
    match kind:
        case "small":
            return rng.integers(max(info.min, -50), min(info.max, 50) + 1, count)
        case "any":
            return rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
        case "extreme":
            edge = [info.min, info.max, info.min + 1, info.max - 1, 0, 1]
            return rng.choice(np.array(edge, dtype), count)
        case "constant":
            return np.full(count, rng.choice(np.array([0, 7, info.max], dtype)), dtype)
    return rng.choice(np.array([0, 1, 2, 5, 2, 1], dtype), count)
