"""Writes golden.txt: streams of zfpy 1.0.1, and what it decodes them to."""

import pathlib

import numpy as np
import zfpy

rng = np.random.default_rng(3)
lines = []
for rank in (1, 2, 3, 4):
    for dtype in ("f4", "f8", "i4", "i8"):
        for mode in ({"rate": 8.5}, {"rate": 24}, {"precision": 17}, {"tolerance": 1e-3}, {}):
            if dtype[0] == "i" and "tolerance" in mode:
                continue
            shape = tuple(int(extent) for extent in rng.integers(1, 7 if rank < 3 else 5, size=rank))
            array = rng.normal(size=shape) * 100
            if rng.random() < 0.3:
                array = np.where(rng.random(shape) < 0.8, 0, array * 10.0 ** rng.integers(-30, 30))
            if dtype[0] == "i":
                high = 2**30 if dtype == "i4" else 2**60
                array = np.clip(array * 1000, -high, high)
            stream = zfpy.compress_numpy(array.astype(dtype), **mode)
            decoded = zfpy.decompress_numpy(stream).tobytes()
            lines.append(f"{dtype} {'x'.join(map(str, shape))} {stream.hex()} {decoded.hex()}")
pathlib.Path(__file__).with_name("golden.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
