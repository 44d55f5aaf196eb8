"""Memory maps of stored elements, and DLPack."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np
import pytest
import tetfile
from containers import CONTAINERS, write

# Containers that store arrays in one piece, as they are in memory.
RAW = ["npz", "npz big-endian", "hdf5", "netcdf", "safetensors", "tet", "tensogram", "ztensor"]


@pytest.mark.parametrize("name", RAW)
def test_maps_have_the_elements(name: str, tmp_path: Path) -> None:
    path, arrays = write(tmp_path, name)
    count = 0
    with tetfile.open(path) as f:
        for key in f:
            try:
                found = f[key].memmap()
            except tetfile.UnsupportedError as error:
                # Chunks of HDF5, and numbers that a format stores as others.
                assert f[key].chunks or name == "tensogram" or key == "int8_0", (key, error)
                continue
            wanted = arrays[key]
            count += 1
            assert found.shape == wanted.shape and found.dtype.newbyteorder("=") == f[key].dtype, key
            assert np.array_equal(found, wanted) and not found.flags.writeable, key
            if wanted.ndim == 2 and wanted.size:
                part = f[key]._core.with_slices(((1, 5, 3, True), (2, 3, 1, False)))
                assert np.array_equal(tetfile.Dataset(f, part).memmap(), wanted[1:5:3, 2])
    assert count > 20


def test_maps_outlive_their_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(100_000.0))
    with tetfile.open(tmp_path / "a.npy") as f:
        found = f["a"].memmap()
    assert found[99_999] == 99_999.0
    with pytest.raises(ValueError):
        found[0] = 1


def test_what_is_not_stored_as_it_is_has_no_map(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out.create_dataset("packed", data=np.arange(100), chunks=(10,), compression="gzip")
        out.create_dataset("chunked", data=np.zeros((20, 20)), chunks=(5, 5))
        out.create_dataset("holes", (40,), "f4", chunks=(40,))
        out["words"] = np.array([b"a", b"bc"])
        out["scaled"] = np.arange(10, dtype="i2")
        out["scaled"].attrs["scale_factor"] = 0.5
    np.save(tmp_path / "fortran.npy", np.asfortranarray(np.arange(12.0).reshape(3, 4)))
    with tetfile.open(tmp_path / "x.h5") as f:
        for key, reason in [("packed", "zlib"), ("chunked", "one piece"), ("holes", "one piece"), ("words", "texts")]:
            with pytest.raises(tetfile.UnsupportedError, match=f"{key}.*{reason}"):
                f[key].memmap()
        assert np.array_equal(f["scaled"].memmap(), np.arange(10))
    with tetfile.open(tmp_path / "x.h5", decoded=True) as f, pytest.raises(tetfile.UnsupportedError, match="decoded"):
        f["scaled"].memmap()
    with tetfile.open(tmp_path / "fortran.npy") as f, pytest.raises(tetfile.UnsupportedError):
        f["fortran"].memmap()


def test_a_file_that_changed_has_no_map(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(10.0))
    with tetfile.open(path) as f:
        before = os.stat(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000_000))
        with pytest.raises(tetfile.ChangedError):
            f["a"].memmap()


@pytest.mark.parametrize("name", CONTAINERS)
def test_arrays_are_given_by_dlpack(name: str, tmp_path: Path) -> None:
    path, arrays = write(tmp_path, name)
    with tetfile.open(path) as f:
        for key in f:
            if f[key].dtype.kind == "V":
                with pytest.raises(BufferError):
                    np.from_dlpack(f[key])
                continue
            assert f[key].__dlpack_device__() == (1, 0)
            assert np.array_equal(np.from_dlpack(f[key]), arrays[key]), key


def test_dlpack_without_a_copy_is_the_map(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(10.0))
    with tetfile.open(tmp_path / "a.npy") as f:
        found = np.from_dlpack(f["a"], copy=False)
        assert not found.flags.writeable and np.array_equal(found, np.arange(10.0))
        assert np.from_dlpack(f["a"], copy=True).flags.writeable
