"""`checksums.h5`: chunks with a Fletcher-32: python make_checksum_fixtures.py, in this folder. Made with h5py 3.16."""

import h5py
import numpy as np

with h5py.File("checksums.h5", "w", libver="latest") as f:
    raw = np.arange(45, dtype="i2").reshape(5, 9) * 7 - 100
    f.create_dataset("raw", data=raw, chunks=(3, 9), fletcher32=True)
    packed = np.arange(40.0) / 8
    f.create_dataset("packed", data=packed, chunks=(20,), shuffle=True, compression="gzip", fletcher32=True)
