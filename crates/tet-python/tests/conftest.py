"""Files that tests read: written by the packages that people write them with."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import tetfile
import tetfile.xarray
import xarray


def climate() -> np.ndarray[Any, Any]:
    """Monthly temperatures on a small grid: 288 + month + lat index + lon index."""
    month, lat, lon = np.ogrid[:12, :4, :8]
    return (288 + month + lat + lon - 0).astype("f4")


def write_climate(path: Path) -> None:
    with netCDF4.Dataset(path, "w") as out:
        out.title = "A small climate"
        for dim, extent in [("time", 12), ("lat", 4), ("lon", 8)]:
            out.createDimension(dim, extent)
        temp = out.createVariable("temp", "f4", ("time", "lat", "lon"), chunksizes=(5, 4, 4), zlib=True)
        temp.units = "K"
        temp[:] = climate()
        time = out.createVariable("time", "f8", ("time",))
        time.units = "days since 2024-01-01"
        time[:] = np.arange(12) * 30.5
        out.createVariable("lat", "f4", ("lat",))[:] = [0, 10, 20, 30]
        out.createVariable("lon", "f4", ("lon",))[:] = np.arange(8) * 45
        out.createVariable("month", "i4", ("time",))[:] = np.arange(1, 13)


def write_groups(path: Path) -> None:
    with h5py.File(path, "w") as out:
        out["ocean/temp"] = np.arange(4.0, dtype="f4").reshape(2, 2)
        out["ocean/deep/salt"] = np.array([35.0, 35.1, 35.2])
        out["ocean"].attrs["source"] = "buoys"
        out["plain"] = np.arange(4)


def warm_one(path: Path, out: Path) -> None:
    """A copy with an element of ``temp`` half a degree higher."""
    shutil.copy(path, out)
    with tetfile.open(out) as f:
        value = f["temp"][3:4, 0:1, 1:2] + np.float32(0.5)
    piece = xarray.Dataset({"temp": (("time", "lat", "lon"), value)})
    piece.tet.to_tet(out, region={"time": slice(3, 4), "lat": slice(0, 1), "lon": slice(1, 2)})


def break_chunk(sound: Path, broken: Path) -> None:
    """Changes a byte of the first dataset's elements."""
    data = bytearray(sound.read_bytes())
    at = data.find(climate()[0, 0, :4].tobytes())
    assert at > 0, "the elements are stored raw"
    data[at] ^= 1
    broken.write_bytes(data)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``climate.nc``, ``climate.tet``, ``broken.tet``, ``warmer.tet``, ``groups.h5`` and ``notes.txt``."""
    folder = tmp_path_factory.mktemp("files")
    write_climate(folder / "climate.nc")
    tetfile.convert(folder / "climate.nc", folder / "climate.tet", codec="raw")
    break_chunk(folder / "climate.tet", folder / "broken.tet")
    warm_one(folder / "climate.tet", folder / "warmer.tet")
    write_groups(folder / "groups.h5")
    (folder / "notes.txt").write_bytes(b"\x00\x01 no array at all \x02\n" * 20)
    return folder


def hostile_files() -> list[Path]:
    """The malformed files of the project, which ``cargo xtask python`` writes."""
    return sorted(Path(os.environ["TET_HOSTILE"]).iterdir())
