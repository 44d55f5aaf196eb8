"""The files: one array in every format, made once out of the seeded file of the benchmarks."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from works import TILE


def made(path, make):
    """The path, after `make` has filled it if nothing was there."""
    if not path.exists():
        print(f"making {path.name}", flush=True)
        # In front, because the suffix decides the format.
        part = path.with_name("part-" + path.name)
        if part.is_dir():
            shutil.rmtree(part)
        part.unlink(missing_ok=True)
        make(part)
        os.rename(part, path)
    return str(path)


def npy(tet, source):
    """Writes an array of a .tet file as .npy."""
    return lambda path: subprocess.run([tet, "cat", source, "x", "-q", "-o", path], check=True)


def slabs(tet, source):
    """Writes a .npy as a raw .tet file, one slab a chunk."""
    options = ["--chunks", "1,512,1024", "--codec", "raw", "--name", "x", "--no-sync", "-q"]
    return lambda path: subprocess.run([tet, "convert", source, path, *options], check=True)


def hdf5(source, chunks):
    """Writes a .npy as HDF5."""
    def make(path):
        import h5py

        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=np.load(source, mmap_mode="r"), chunks=chunks)

    return make


def zarr(source, codec):
    """Writes a .npy as a Zarr v3 directory."""
    def make(path):
        import zarr

        array = np.load(source, mmap_mode="r")
        codecs = {"none": None, "zstd": zarr.codecs.ZstdCodec(level=3)}
        store = zarr.create_array(
            path, shape=array.shape, chunks=TILE, dtype=array.dtype, compressors=codecs[codec]
        )
        store[...] = array

    return make


def layouts(folder, tet, seeded):
    """The file of each layout for each library that can have it so."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    x = made(folder / "x.npy", npy(tet, seeded["tiled"]))
    packed = made(folder / "packed.npy", npy(tet, seeded["zstd"]))
    tiny = made(folder / "tiny.npy", npy(tet, seeded["tiny"]))
    tiled = made(folder / "tiled.zarr", zarr(x, "none"))
    return {
        "slab": {
            "tet": made(folder / "slab.tet", slabs(tet, x)),
            "numpy": x,
            "h5py": made(folder / "contiguous.h5", hdf5(x, None)),
            "zarr": tiled,
        },
        "tiled": {
            "tet": seeded["tiled"],
            "numpy": x,
            "h5py": made(folder / "tiled.h5", hdf5(x, TILE)),
            "zarr": tiled,
        },
        "zstd": {
            "tet": seeded["zstd"],
            "zarr": made(folder / "zstd.zarr", zarr(packed, "zstd")),
        },
        # Zarr would keep 500,000 files.
        "tiny": {
            "tet": seeded["tiny"],
            "numpy": tiny,
            "h5py": made(folder / "tiny.h5", hdf5(tiny, (8,))),
        },
    }
