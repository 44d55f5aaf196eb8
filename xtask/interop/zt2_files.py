"""Files of the `ztensor` package of version 2.

python zt2_files.py write FOLDER SEED COUNT   writes so many files, each with its sheet
python zt2_files.py small FOLDER              writes the files that are under tests/data
"""

import json
import pathlib
import sys

import numpy as np
import ztensor

# Words of the format, storage type and bits, by our names.
TYPES = {
    "float64": ("f64", None, 64),
    "float32": ("f32", None, 32),
    "float16": ("f16", None, 16),
    "bfloat16": ("bf16", None, 16),
    "int64": ("i64", None, 64),
    "int32": ("i32", None, 32),
    "int16": ("i16", None, 16),
    "int8": ("i8", None, 8),
    "uint64": ("u64", None, 64),
    "uint32": ("u32", None, 32),
    "uint16": ("u16", None, 16),
    "uint8": ("u8", None, 8),
    "bool": ("u8", "bool", 8),
    "complex64": ("f32", "complex64", 64),
    "complex128": ("f64", "complex128", 128),
}
ZSTD = "zt.zstd-seekable/1"
def add_object(writer, name, shape, parts, layout="dense", attributes=None):
    """Adds an object; the writer takes bytes."""
    parts = {key: {**part, "data": np.ascontiguousarray(part["data"]).tobytes()} for key, part in parts.items()}
    writer.add_object(name, shape, parts, layout, attributes)


def add(writer, name, data, shape, dtype, **more):
    """Adds a dense object."""
    add_object(writer, name, shape, {"data": {"data": data, "dtype": dtype, **more}})


NAMES = ["a/b", "layers.0.weight", "caf\u00e9", "\U0001f600", " ", "#0", "x[1]"]


def content_of(rng, name, count):
    """Random elements: every other time few different ones, which zstd makes shorter."""
    bits = TYPES[name][2]
    high = 2 if name == "bool" else 4 if rng.random() < 0.5 else 256
    return rng.integers(0, high, size=count * bits // 8).astype(np.uint8).tobytes()


def part_of(rng, name, content):
    """A part of an object, as the writer takes it."""
    dtype, logical, _ = TYPES[name]
    part = {"data": np.frombuffer(content, np.uint8), "dtype": dtype}
    if logical is not None:
        part["logical"] = logical
    if rng.random() < 0.4:
        part["encoding"] = ZSTD
    return part


def dense(rng, number):
    """A dense object: its sheet, its bytes, and the arguments of the writer."""
    name = str(rng.choice(list(TYPES)))
    shape = [int(extent) for extent in rng.integers(0, 6, size=rng.integers(0, 5))]
    if rng.random() < 0.1:
        # More than one frame, and an extent that frames do not divide.
        shape = [int(rng.integers(2, 5)), int(rng.integers(300_000, 500_000))]
    count = int(np.prod(shape, dtype=np.int64))
    content = content_of(rng, name, count)
    sheet = {"dtype": name, "shape": shape}
    return sheet, content, {"shape": shape, "parts": {"data": part_of(rng, name, content)}}


def sparse(rng, number):
    """A sparse object, and the elements that it stands for."""
    name = str(rng.choice(["float32", "int16", "uint8", "complex64", "bfloat16", "bool"]))
    itemsize = TYPES[name][2] // 8
    is_csr = rng.random() < 0.5
    rank = 2 if is_csr else int(rng.integers(1, 4))
    shape = [int(extent) for extent in rng.integers(1, 9, size=rank)]
    total = int(np.prod(shape))
    places = np.flatnonzero(rng.random(total) < 0.3)
    values = content_of(rng, name, len(places))
    whole = np.zeros((total, itemsize), np.uint8)
    whole[places] = np.frombuffer(values, np.uint8).reshape(len(places), itemsize)
    word, position = ("u32", np.uint32) if rng.random() < 0.5 else ("u64", np.uint64)
    coords = np.array(np.unravel_index(places, shape), position).reshape(rank, len(places))
    parts = {"values": part_of(rng, name, values)}

    def numbers(array):
        part = {"data": np.ascontiguousarray(array, position), "dtype": word}
        return {**part, "encoding": ZSTD} if rng.random() < 0.4 else part

    if is_csr:
        starts = np.concatenate([[0], np.cumsum(np.bincount(coords[0].astype(int), minlength=shape[0]))])
        parts["indptr"], parts["indices"] = numbers(starts), numbers(coords[1])
    else:
        order = rng.permutation(len(places))
        parts["coords"] = numbers(coords[:, order].reshape(-1))
        elements = np.frombuffer(values, np.uint8).reshape(len(places), itemsize)
        parts["values"]["data"] = np.ascontiguousarray(elements[order]).reshape(-1)
    layout = "zt.sparse_csr/1" if is_csr else "zt.sparse_coo/1"
    sheet = {"dtype": name, "shape": shape}
    return sheet, whole.tobytes(), {"shape": shape, "parts": parts, "layout": layout}


def write(path, rng):
    """Writes one file, and its sheet."""
    lines, contents, is_canonical = [], [], rng.random() < 0.3
    objects = {}
    for number in range(int(rng.integers(0, 12))):
        make = sparse if rng.random() < 0.3 else dense
        name = str(rng.choice(NAMES)) if rng.random() < 0.2 else f"t.{number}"
        objects[name] = make(rng, number)
    options = {"canonical": True} if is_canonical else {"canonical": False, "align": int(rng.choice([4096, 65536]))}
    with ztensor.Writer(str(path), **options) as writer:
        for name in sorted(objects, key=lambda it: it.encode()):
            sheet, content, how = objects[name]
            if is_canonical:
                for part in how["parts"].values():
                    part.pop("encoding", None)
            add_object(writer, name, attributes={"number": len(lines), "note": "n"}, **how)
            lines.append({"name": name, **sheet})
            contents.append(content)
        writer.set_attributes({"title": "random", "list": [1, -2, 0.5]})
        writer.finish()
    ztensor.verify(str(path), True)
    # The manifest has its keys in the order of their encoding: shorter ones first.
    order = sorted(range(len(lines)), key=lambda at: (len(lines[at]["name"].encode()), lines[at]["name"].encode()))
    path.with_suffix(".json").write_text(json.dumps([lines[at] for at in order]), encoding="utf-8")
    path.with_suffix(".bin").write_bytes(b"".join(contents[at] for at in order))


def small(folder):
    """Two files of fixed objects."""
    folder = pathlib.Path(folder)
    grid = np.arange(12, dtype=np.float32).reshape(3, 4) / 4
    with ztensor.Writer(str(folder / "small.zt"), canonical=False, align=4096) as writer:
        add(writer, "dense", grid.reshape(-1), [3, 4], "f32")
        add(writer, "packed", np.arange(6, dtype=np.int16), [6], "i16", encoding=ZSTD)
        add(writer, "scalar", np.array([2.5]), [], "f64")
        add(writer, "empty", np.zeros(0, np.uint8), [0, 3], "u8")
        add(writer, "mask", np.array([1, 0, 1], np.uint8), [3], "u8", logical="bool")
        add(writer, "f8", np.arange(4, dtype=np.uint8), [4], "u8", logical="f8_e4m3fn")
        add(writer, "f4", np.array([0x21, 0x03], np.uint8), [3], "u8", logical="f4_e2m1")
        add(writer, "z", np.array([1, -1, 2, -2], np.float32), [2], "f32", logical="complex64")
        rows = {"values": np.array([1, 2, 3], np.float32), "indices": np.array([1, 0, 3], np.uint32)}
        rows = {name: {"data": data, "dtype": "f32" if name == "values" else "u32"} for name, data in rows.items()}
        rows["indptr"] = {"data": np.array([0, 1, 1, 3], np.uint32), "dtype": "u32"}
        add_object(writer, "csr", [3, 4], rows, "zt.sparse_csr/1", {"dims": ["row", "col"]})
        coo = {
            "values": {"data": np.array([7, 8], np.int64), "dtype": "i64"},
            "coords": {"data": np.array([2, 0, 1, 3], np.uint64), "dtype": "u64", "encoding": ZSTD},
        }
        add_object(writer, "coo", [3, 4], coo, "zt.sparse_coo/1")
        parts = {
            "data": {"data": np.arange(16, dtype=np.uint8), "dtype": "u8"},
            "scales": {"data": np.array([0.5, 2], np.float32), "dtype": "f32"},
        }
        add_object(writer, "blocks", [4, 8], parts, "vendor.blocks/1", {"bits": 4})
        writer.set_attributes({"title": "small", "count": 3})
        writer.finish()
    with ztensor.Writer(str(folder / "canonical.zt"), canonical=True) as writer:
        add(writer, "a", grid.reshape(-1), [3, 4], "f32")
        add(writer, "b", grid.reshape(-1), [12], "f32")
        writer.finish()


def main():
    """Does what the first argument says."""
    word, folder, *numbers = sys.argv[1:]
    if word == "small":
        small(folder)
        return
    seed, count = map(int, numbers)
    for number in range(count):
        write(pathlib.Path(folder) / f"second-{number:03}.zt", np.random.default_rng([seed, number]))


main()
