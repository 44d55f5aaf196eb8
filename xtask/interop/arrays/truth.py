"""What a file contains, written beside it: one JSON document and one .npy file for each array.

    FILES/NAME           the file, or the folder of a store
    TRUTH/NAME.json      {"file", "format", "notes", "datasets": [...]}
    TRUTH/NAME/0.npy     raw values of a dataset: little endian, C order, as stored
    TRUTH/NAME/0d.npy    the values after scale, offset and masks, as xarray computes them

A dataset has `name` (path without the first slash), `aliases`, `kind` (`numbers`, `text` or
`other`), `dtype`, `shape`, `dims`, `attrs`, and, where they apply, `values`, `decoded`, `chunks`;
of text `texts`, row-major. A member of a structure is a dataset with `is_part`.
"""

import json
import pathlib
import zlib

import numpy as np


def generator(seed, name):
    """The source of chance of one case: independent of the other cases."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def plain(values):
    """Little endian, C order, rank unchanged."""
    values = np.asarray(values)
    return np.asarray(values, dtype=values.dtype.newbyteorder("<"), order="C")


def random(rng, dtype, shape):
    """Values of a type: the full range of integers; finite numbers, NaN and infinities of floats."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        values = rng.integers(bounds.min, bounds.max, shape, dtype.newbyteorder("="), endpoint=True)
        return np.asarray(values).astype(dtype)
    if dtype.kind == "c":
        values = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        return np.asarray(values).astype(dtype)
    values = np.asarray(rng.standard_normal(shape) * 1000)
    if values.size > 8:
        values.flat[3], values.flat[5], values.flat[7] = np.nan, np.inf, -0.0
    return values.astype(dtype)


def smooth(rng, dtype, shape):
    """Values that compress: a ramp with little noise."""
    count = int(np.prod(shape, dtype=np.int64))
    values = np.arange(count) // 7 % 100 + rng.integers(0, 3, count)
    return values.reshape(shape).astype(dtype)


def text(value):
    """A text as Python has it, or its bytes with U+FFFD for what is not UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    # Bytes that h5py could not decode.
    return str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def texts(values):
    """The texts of an array, row-major."""
    return [text(value) for value in np.asarray(values).ravel().tolist()]


def attribute(value):
    """An attribute as JSON, or None where it is no plain number or text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    values = np.asarray(value)
    if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8 or values.ndim > 1:
        return None
    if values.size > 4096 or not np.isfinite(values.astype(np.float64)).all():
        return None
    return values.tolist()


class Truth:
    """Collects the datasets of one file."""

    def __init__(self, folder, file, form):
        self.path, self.name = pathlib.Path(folder), file
        self.document = {"file": file, "format": form, "notes": [], "datasets": []}

    def note(self, text):
        self.document["notes"].append(text)

    def dataset(self, name, kind, shape, dtype, **more):
        """Adds a dataset; `values` and `decoded` are arrays."""
        entry = {"name": name, "kind": kind, "shape": list(shape), "dtype": dtype}
        for key in ("values", "decoded"):
            values = more.pop(key, None)
            if values is not None:
                entry[key] = self.array(key, values)
        entry.update({key: value for key, value in more.items() if value is not None})
        self.document["datasets"].append(entry)
        return entry

    def replace(self, entry, values):
        """Other values for a dataset, which has none after masks and scales then."""
        (self.path / self.name / entry.pop("decoded", "-")).unlink(missing_ok=True)
        np.save(self.path / self.name / entry["values"], plain(values))

    def array(self, key, values):
        folder = self.path / self.name
        folder.mkdir(parents=True, exist_ok=True)
        suffix = "d" if key == "decoded" else ""
        name = f"{len(self.document['datasets'])}{suffix}.npy"
        np.save(folder / name, plain(values))
        return name

    def write(self):
        self.path.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.document, allow_nan=False)
        (self.path / f"{self.name}.json").write_text(text, encoding="utf-8")
