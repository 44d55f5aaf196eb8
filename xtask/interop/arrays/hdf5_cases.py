"""The registry of HDF5 cases, and what they are made with."""

import ctypes

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

from truth import smooth

VERSIONS = ["earliest", "v108", "v110", "v112", "v114", "latest"]
NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
CASES = {}


def case(name, *arguments, version="latest", **options):
    """Registers a function that fills an open file."""

    def register(fill):
        def write(path, rng):
            with create(path, version, **options) as file:
                return fill(file, rng, *arguments)

        assert name not in CASES, name
        CASES[name] = write
        return fill

    return register


def written(name):
    """Registers a function that writes a file by itself."""

    def register(write):
        assert name not in CASES, name
        CASES[name] = write
        return write

    return register


def create(path, version, **options):
    low = version if version != "latest" else "v200"
    return h5py.File(path, "w", libver=(low, low if low != "earliest" else "v108"), **options)


def library():
    """libhdf5 itself, for what h5py has no method."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "libhdf5-" in line and "_hl" not in line}
    found = ctypes.CDLL(min(paths))
    for name in ("H5Pset_istore_k", "H5Pset_sym_k", "H5Pset_shared_mesg_nindexes"):
        getattr(found, name).argtypes = [ctypes.c_int64, ctypes.c_uint, ctypes.c_uint]
    found.H5Pset_istore_k.argtypes = [ctypes.c_int64, ctypes.c_uint]
    found.H5Pset_shared_mesg_nindexes.argtypes = [ctypes.c_int64, ctypes.c_uint]
    found.H5Pset_shared_mesg_index.argtypes = [ctypes.c_int64, *[ctypes.c_uint] * 3]
    found.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    return found


def low_level(file, name, values, chunks=None, space=None, file_type=None, set_up=()):
    """A dataset by the functions of the library; `set_up` changes its creation properties."""
    values = np.asarray(values)
    plist = h5p.create(h5p.DATASET_CREATE)
    if chunks:
        plist.set_chunk(chunks)
    for change in set_up:
        change(plist)
    space = space or h5s.create_simple(values.shape)
    made = h5d.create(file.id, name.encode(), file_type or h5t.py_create(values.dtype), space, plist)
    if values.size:
        made.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(values))
    return made


def some_chunks(dataset, rng, share=0.5):
    """Writes some chunks of a dataset and leaves the others absent."""
    for at in dataset.iter_chunks():
        if rng.random() < share:
            shape = tuple(part.stop - part.start for part in at)
            dataset[at] = smooth(rng, dataset.dtype, shape)
