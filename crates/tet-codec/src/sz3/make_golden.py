"""Writes golden.txt: streams of hdf5plugin 7.1.0 and of tensogram 0.24.0, and the CRC-32 of what they decode them to.

library.txt is alike, of SZ_compress of the headers of SZ3 3.1.7 and 3.3.2 with configurations at random.
"""

import io
import pathlib
import struct
import zlib

import h5py
import hdf5plugin
import numpy as np
import tensogram

rng = np.random.default_rng(11)
lines = []


def made(shape, kind):
    along = np.meshgrid(*[np.arange(extent) / 7 for extent in shape], indexing="ij")
    smooth = sum(np.sin(part * (axis + 1)) for axis, part in enumerate(along))
    noise = rng.normal(size=shape)
    return {"smooth": smooth, "noise": noise, "both": smooth + noise / 100, "one": np.full(shape, 2.5)}[kind]


def add(dtype, stream, decoded):
    lines.append(f"{dtype} {decoded.size} {bytes(stream).hex()} {zlib.crc32(decoded.tobytes())}")


shapes = [(20,), (33,), (200,), (5, 5), (3, 31), (17, 16), (3, 4, 5), (8, 1, 9), (7, 8, 6), (2, 3, 4, 5), (5, 4, 3, 6)]
for shape in shapes:
    for dtype in ("f4", "f8", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"):
        if dtype[0] != "f" and np.prod(shape) < 200:
            # The library writes past its buffer for few elements.
            continue
        kind = str(rng.choice(["smooth", "noise", "both", "one"]))
        if dtype[0] == "f":
            array, bound = made(shape, kind), float(10.0 ** -rng.integers(1, 6))
        else:
            array, bound = made(shape, kind) * 20 + 60, float(rng.integers(0, 4))
            array = np.clip(array, 0, 127)
        with h5py.File(io.BytesIO(), "w") as file:
            options = {"chunks": shape, "compression": hdf5plugin.SZ3(absolute=bound)}
            dataset = file.create_dataset("d", data=array.astype(dtype), **options)
            # Reading the stored bytes writes them, so that the elements are decoded.
            stream = dataset.id.read_direct_chunk((0,) * len(shape))[1]
            add(dtype, stream, dataset[...])

for count in (1, 2, 5, 33, 150):
    for kind in ("smooth", "noise", "one"):
        array = made((count,), kind)
        entry = {"type": "ntensor", "dtype": "float64", "shape": [count], "ndim": 1, "strides": [1]}
        entry |= {"byte_order": "little", "encoding": "none", "filter": "none", "compression": "sz3"}
        entry |= {"sz3_error_bound_mode": "abs", "sz3_error_bound": 1e-3}
        message = tensogram.encode({"base": [{}]}, [(entry, array)], hash=None)
        start = message.index(bytes.fromhex("10f342f3"))
        end = start + 16 + struct.unpack("<Q", message[start + 8 : start + 16])[0]
        stream = message[start : end + message[end]]
        add("f8", stream, np.asarray(tensogram.decode(message)[1][0][1]))

pathlib.Path(__file__).with_name("golden.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
