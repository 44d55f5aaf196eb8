"""GDAL reads the stored bytes of containers in place, by references of kerchunk."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import gdal
import numpy as np
import pytest
import tetfile
import xarray
from containers import CONTAINERS, write
from test_references import refused

# The library in the wheel decodes no zstd, in which these are written, and GDAL knows no filters of HDF5 in Zarr 3.
UNDECODED = {(name, version) for name in ("tet zstd", "zarr 3", "zarr 2") for version in (2, 3)} | {("hdf5 deflate", 3)}
CASES = [(name, version) for name in CONTAINERS for version in (2, 3) if (name, version) not in UNDECODED]


def place(document: Path) -> str:
    return f'ZARR:"/vsikerchunk_json_ref/{{{document}}}"'


@pytest.mark.parametrize("name, zarr_format", CASES)
def test_gdal_reads_what_was_written(name: str, zarr_format: Literal[2, 3], tmp_path: Path) -> None:
    path, arrays = write(tmp_path, name)
    document = tmp_path / "references.json"
    with tetfile.open(path) as f:
        left = refused(f)
        f.to_references(document, exclude=left, inline=0, zarr_format=zarr_format)
        # Arrays without elements are errors of GDAL.
        wanted = {key: arrays[key] for key in f if key not in left and arrays[key].size}
    found = gdal.read(place(document), list(wanted))
    assert len(wanted) >= 20
    for key, array in wanted.items():
        assert found[key].shape == array.shape, key
        np.testing.assert_array_equal(found[key], array, err_msg=key)


@pytest.mark.parametrize("suffix, zarr_format", [(".nc", 2), (".tet", 2), (".tet", 3)])
def test_gdal_reads_clipped_chunks_of_several_files(suffix: str, zarr_format: Literal[2, 3], tmp_path: Path) -> None:
    values = np.random.default_rng(2).normal(0, 1, (40, 6, 9)).astype("f4")
    paths = []
    for start, stop in [(0, 14), (14, 28), (28, 40)]:
        part, path = tmp_path / f"{start}.nc", tmp_path / f"{start}{suffix}"
        rows = xarray.Dataset({"temp": (("time", "lat", "lon"), values[start:stop])})
        encoding = {"temp": {"chunksizes": (7, 4, 9), "zlib": True, "shuffle": True}}
        rows.to_netcdf(part, engine="netcdf4", encoding=encoding)
        if path != part:
            tetfile.convert(part, path, codec="raw")
        paths.append(path)
    document = tmp_path / "all.json"
    with tetfile.open(paths[0]) as f:
        f.to_references(document, concat="time", others=paths[1:], edges="inline", zarr_format=zarr_format)
    found = gdal.read(place(document), ["temp"])["temp"]
    np.testing.assert_array_equal(found, values)
