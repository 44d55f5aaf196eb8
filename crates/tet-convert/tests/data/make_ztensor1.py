"""Makes ztensor1.zt of this folder with ztensor 1.2.3; see README.md."""

import pathlib

import numpy as np
import ztensor

HERE = pathlib.Path(__file__).parent
grid = np.arange(12, dtype=np.float32).reshape(3, 4) / 4
with ztensor.Writer(str(HERE / "ztensor1.zt")) as writer:
    writer.write_numpy("dense", grid, checksum="crc32c")
    writer.write_numpy("packed", np.arange(6, dtype=np.int16), compress=True, checksum="sha256")
    writer.write_numpy("mask", np.array([True, False, True]))
    writer.write_numpy("half", np.array([1.5, -2], np.float16))
    csr = {
        "values": np.array([1, 2, 3], np.float32),
        "indices": np.array([1, 0, 3], np.uint64),
        "indptr": np.array([0, 1, 1, 3], np.uint64),
    }
    writer.write("csr", ztensor.Tensor(csr, shape=[3, 4], format="sparse_csr"), compress=True)
    coo = {"values": np.array([7, 8], np.int64), "coords": np.array([2, 0, 1, 3], np.uint64)}
    writer.write("coo", ztensor.Tensor(coo, shape=[3, 4], format="sparse_coo"), checksum="sha256")
    blocks = {"packed": np.arange(16, dtype=np.uint8), "scales": np.array([0.5, 2], np.float32)}
    attributes = {"bits": 4}
    blocks = ztensor.Tensor(blocks, shape=[4, 8], format="quantized_group", attributes=attributes)
    writer.write("blocks", blocks)
