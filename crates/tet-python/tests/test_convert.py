"""What a conversion leaves out is said, and what it cannot read is an error."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tetfile
import tetfile.xarray
import xarray
from fsspec.implementations.memory import MemoryFileSystem


@pytest.fixture
def stations(tmp_path: Path) -> Path:
    """Numbers, and texts that label no axis of theirs."""
    path = tmp_path / "stations.h5"
    with h5py.File(path, "w") as out:
        out["x"] = np.arange(2)
        out["name"] = ["a", "b"]
    return path


def test_texts_that_are_left_out_are_a_warning(stations: Path, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r'o.tet lacks what the input has: "name": texts \(2\) are left out'):
        done = tetfile.convert(stations, tmp_path / "o.tet")
    assert done.losses == ['"name": texts (2) are left out'] and done.losses[0] in done.notes
    assert list(tetfile.open(tmp_path / "o.tet")) == ["x"]


def test_strict_writes_nothing_that_lacks_something(stations: Path, tmp_path: Path) -> None:
    with pytest.raises(tetfile.UnsupportedError, match="texts"):
        tetfile.convert(stations, tmp_path / "o.tet", strict=True)
    assert os.listdir(tmp_path) == ["stations.h5"]
    for suffix in ("tet", "zarr"):
        tetfile.convert(stations, tmp_path / f"o.{suffix}", strict=True, exclude="name")
        assert list(tetfile.open(tmp_path / f"o.{suffix}")) == ["x"]
        with pytest.raises((FileExistsError, tetfile.UsageError)):
            tetfile.convert(stations, tmp_path / f"o.{suffix}", strict=True, exclude="name")
    tetfile.convert(stations, tmp_path / "o.tet", strict=True, exclude="name", overwrite=True)


def test_one_name_is_one_name(stations: Path, tmp_path: Path) -> None:
    assert tetfile.convert(stations, tmp_path / "o.tet", include="x").datasets == ["x"]


def test_an_open_file_is_converted_and_checked(stations: Path, tmp_path: Path) -> None:
    with tetfile.open(stations) as file:
        assert tetfile.convert(file, tmp_path / "o.tet", include="x").datasets == ["x"]
    with tetfile.open(tmp_path / "o.tet") as file:
        assert tetfile.verify(file).ok


def test_metadata_that_are_cut_off_are_an_error(tmp_path: Path) -> None:
    made = xarray.Dataset({"v": ("x", np.arange(9000.0))}, {"x": np.arange(9000.0)})
    made.to_netcdf(tmp_path / "whole.nc", encoding={"v": {"zlib": True, "chunksizes": (9000,)}})
    whole = (tmp_path / "whole.nc").read_bytes()
    path = tmp_path / "cut.nc"
    for length in (100, 3000, len(whole) - 10):
        path.write_bytes(whole[:length])
        with pytest.raises(tetfile.DamagedError):
            tetfile.convert(path, tmp_path / "o.tet")
        assert not (tmp_path / "o.tet").exists()
    path.write_bytes(whole[:-10])
    with pytest.warns(UserWarning, match="left out"):
        tetfile.convert(path, tmp_path / "o.tet", salvage=True)
    with pytest.warns(UserWarning):
        xarray.open_dataset(path, engine="tet").close()


def test_types_that_are_not_read_are_no_damage(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out["x"] = np.arange(2)
        references = np.array([out["x"].ref], dtype=h5py.ref_dtype)
        out["r1"] = out["r2"] = references
        out["r3"] = references
    with pytest.raises(tetfile.UnsupportedError) as caught:
        tetfile.convert(tmp_path / "x.h5", tmp_path / "o.tet")
    assert str(caught.value).count("cannot be read") <= 3
    with pytest.raises(tetfile.UnsupportedError) as caught:
        tetfile.open(tmp_path / "x.h5")["r1"][...]
    assert str(caught.value).count('dataset "r1"') == 1


@pytest.mark.parametrize("suffix", ["npz", "safetensors", "npy", "csv"])
def test_a_codec_that_the_output_lacks_is_refused(suffix: str, stations: Path, tmp_path: Path) -> None:
    for codec in ("zstd", "gzip"):
        with pytest.raises(tetfile.UsageError, match="does not support codec"):
            tetfile.convert(stations, tmp_path / f"o.{suffix}", include="x", codec=codec)  # type: ignore[arg-type]
    with pytest.raises(tetfile.UsageError, match="compression_level"):
        tetfile.convert(stations, tmp_path / f"o.{suffix}", include="x", compression_level=5)


@pytest.mark.parametrize("suffix", ["tet", "zt", "tgm"])
def test_gzip_is_refused_and_zstd_is_used(suffix: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.zeros(100_000))
    with pytest.raises(tetfile.UsageError, match="gzip"):
        tetfile.convert(tmp_path / "x.npz", tmp_path / f"o.{suffix}", codec="gzip")
    done = tetfile.convert(tmp_path / "x.npz", tmp_path / f"o.{suffix}", codec="zstd")
    assert done.output_len < 40_000
    assert (tetfile.open(tmp_path / f"o.{suffix}")["x"][...] == 0).all()


def test_chunks_are_given_by_the_names_of_axes(files: Path, tmp_path: Path) -> None:
    tetfile.convert(files / "climate.nc", tmp_path / "o.tet", chunks={"time": 3, "lat": 2})
    with tetfile.open(tmp_path / "o.tet") as file:
        assert file["temp"].chunks == (3, 2, 4) and file["time"].chunks == (12,)
    with pytest.raises(tetfile.UsageError, match="depth"):
        tetfile.convert(files / "climate.nc", tmp_path / "p.tet", chunks={"depth": 3})
    with pytest.raises(ValueError, match="each is at least 1"):
        tetfile.convert(files / "climate.nc", tmp_path / "p.tet", chunks={"time": 0})


@pytest.mark.parametrize("suffix", ["zt", "npz", "nc3", "safetensors"])
def test_chunks_of_outputs_without_chunks_are_refused(files: Path, tmp_path: Path, suffix: str) -> None:
    output = tmp_path / f"o.{suffix}"
    for chunks in ({"time": 3}, (3, 2, 4)):
        with pytest.raises(tetfile.UsageError, match="does not support chunks"):
            tetfile.convert(files / "climate.nc", output, chunks=chunks, include=["temp"])
    assert not output.exists()
    with warnings.catch_warnings():
        # Of metadata that some of them have no place for.
        warnings.simplefilter("ignore", UserWarning)
        tetfile.convert(files / "climate.nc", output, chunks="auto", include=["temp"])
    assert output.exists()


def test_virtual_datasets_are_left_out_of_the_engine(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out["x"] = np.arange(3)
        layout = h5py.VirtualLayout((3,), "i8")
        layout[:] = h5py.VirtualSource(out["x"])
        out.create_virtual_dataset("v", layout)
        out["empty"] = h5py.Empty("f4")
    with pytest.warns(UserWarning, match="is left out"):
        found = xarray.open_dataset(tmp_path / "x.h5", engine="tet").load()
    assert list(found.variables) == ["x"]
    found = xarray.open_dataset(tmp_path / "x.h5", engine="tet", drop_variables=["v", "empty"])
    assert list(found.variables) == ["x"]


def test_a_url_has_a_host() -> None:
    with pytest.raises(ValueError, match="without a host"):
        tetfile.open("http://")


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Packed and masked values, and times that a float64 cannot hold."""
    path = tmp_path / "packed.nc"
    times = np.array(["2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000002", "NaT"], "M8[ns]")
    made = xarray.Dataset({"t": ("time", [1.5, np.nan, 2.25], {"units": "K"}), "n": ("time", [1, 2, 3])}, {"time": times})
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 20.0, "_FillValue": np.int16(-32767)}
    unit = {"dtype": "i8", "units": "nanoseconds since 1970-01-01", "_FillValue": np.int64(-1)}
    made.to_netcdf(path, encoding={"t": packing, "time": unit})
    return path


@pytest.mark.filterwarnings("ignore:.*lacks what the input has")
def test_packed_values_are_decoded_where_readers_do_not(packed: Path, tmp_path: Path) -> None:
    wanted = [1.5, np.nan, 2.25]
    tetfile.convert(packed, tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as found:
        assert np.array_equal(found["t"], wanted, equal_nan=True) and found["t"].dtype == np.float64
        assert found["n"].dtype == np.int64
        assert found["time"].tolist() == [1577836800000000001, 1577836800000000002, np.iinfo("i8").min]
    tetfile.convert(packed, tmp_path / "raw.npz", raw_values=True)
    with np.load(tmp_path / "raw.npz") as found:
        assert found["t"].tolist() == [-1850, -32767, -1775]
    tetfile.convert(packed, tmp_path / "x.h5")
    tetfile.convert(packed, tmp_path / "decoded.nc", decoded=True)
    with h5py.File(tmp_path / "x.h5") as stored, h5py.File(tmp_path / "decoded.nc") as decoded:
        assert stored["t"][:].tolist() == [-1850, -32767, -1775] and stored["t"].attrs["scale_factor"] == 0.01
        assert np.array_equal(decoded["t"][:], wanted, equal_nan=True) and "scale_factor" not in decoded["t"].attrs
    with xarray.open_dataset(packed) as theirs, xarray.open_dataset(tmp_path / "decoded.nc") as ours:
        xarray.testing.assert_equal(ours.load(), theirs.load())
    with pytest.raises(tetfile.UsageError, match="contradict"):
        tetfile.convert(packed, tmp_path / "y.nc", raw_values=True, decoded=True)
    assert tetfile.diff(packed, tmp_path / "decoded.nc").same
    assert not tetfile.diff(packed, tmp_path / "decoded.nc", raw_values=True).same


def test_times_of_64_bits_are_exact_in_a_decoded_file(packed: Path) -> None:
    with tetfile.open(packed, decoded=True) as ours, xarray.open_dataset(packed) as theirs:
        time = ours["time"]
        assert time.dtype == np.int64
        assert time[...].tolist() == [1577836800000000001, 1577836800000000002, np.iinfo("i8").min]
        assert time[1] == 1577836800000000002
        assert np.array_equal(ours["t"].labels("time"), theirs["time"].values, equal_nan=True)
        assert ours["t"].sel(time="2020-01-01T00:00:00.000000001")[()] == 1.5
        assert np.isclose(time.mean(), 1577836800000000001.5)
        assert "scale_factor" not in ours["t"].attrs


@pytest.fixture
def months(tmp_path: Path) -> list[Path]:
    """Two months with one axis and one grid, whose times count from other dates."""
    paths = [tmp_path / f"{month}.nc" for month in ("may", "june")]
    for path, first in zip(paths, ["2024-05-30", "2024-06-01"], strict=True):
        times = np.arange(first, 2, dtype="M8[D]").astype("M8[ns]")
        data = {"t": (("time", "lat"), np.arange(6.0).reshape(2, 3) + len(path.stem))}
        made = xarray.Dataset(data, {"time": times, "lat": [1.0, 2.0, 3.0]}, attrs={"title": "months"})
        made.to_netcdf(path, encoding={"time": {"units": "days since 2024-01-01"}})
    return paths


def test_files_are_concatenated_along_an_axis(months: list[Path], tmp_path: Path) -> None:
    done = tetfile.convert(months, tmp_path / "o.tet", concat="time")
    assert done.datasets == ["t", "time", "lat"] and not done.losses
    wanted = xarray.concat([xarray.open_dataset(path, engine="netcdf4") for path in months], "time", data_vars="minimal")
    with xarray.open_dataset(tmp_path / "o.tet") as found:
        xarray.testing.assert_equal(found.load(), wanted.load())
    # Open files and objects of filesystems are inputs as paths are.
    memory = MemoryFileSystem()
    memory.put(str(months[1]), "/june.nc")
    opened = [tetfile.open(months[0]), memory.open("/june.nc")]
    tetfile.convert(opened, tmp_path / "again.tet", concat="time")
    assert tetfile.diff(tmp_path / "o.tet", tmp_path / "again.tet").same


def test_files_are_stacked_and_merged(months: list[Path], tmp_path: Path) -> None:
    for path, value in zip(months, (1, 2), strict=True):
        np.savez(path.with_suffix(".npz"), v=np.full(2, value))
    arrays = [path.with_suffix(".npz") for path in months]
    tetfile.convert(arrays, tmp_path / "o.tet", stack="run")
    with tetfile.open(tmp_path / "o.tet") as file:
        assert file["v"][...].tolist() == [[1, 1], [2, 2]]
        assert file["v"].labels("run").tolist() == ["may", "june"]
    tetfile.convert([months[0], arrays[0]], tmp_path / "m.tet", merge=True)
    assert set(tetfile.open(tmp_path / "m.tet")) == {"t", "time", "lat", "v"}
    with pytest.raises(tetfile.UsageError, match='"v"'):
        tetfile.convert(arrays, tmp_path / "p.tet", merge=True)
    tetfile.convert(arrays, tmp_path / "p.tet", merge=True, prefer="first")
    assert tetfile.open(tmp_path / "p.tet")["v"][...].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, "there are 2 inputs: merge=True writes the datasets of all, concat=AXIS"),
        ({"concat": "time", "stack": "run"}, "exclude each other"),
        ({"concat": "time", "merge": True}, "exclude each other"),
        ({"prefer": "first"}, "there are 2 inputs"),
        ({"concat": "time", "prefer": "first"}, "prefer is for merge=True"),
        ({"concat": "time", "dtype": "float32"}, "omit dtype"),
        ({"concat": "depth"}, "no dataset has an axis named \"depth\""),
        ({"merge": True, "prefer": "last"}, "prefer=\"last\" is not one of first"),
    ],
)
def test_what_does_not_go_together_is_refused(months: list[Path], tmp_path: Path, asked: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        tetfile.convert(months, tmp_path / "o.tet", **asked)
    with pytest.raises(FileNotFoundError):
        tetfile.convert([*months, tmp_path / "july.nc"], tmp_path / "o.tet", concat="time")
    assert not (tmp_path / "o.tet").exists()


@pytest.fixture
def climate(tmp_path: Path) -> Path:
    """A dataset in chunks of five days, with its coordinates."""
    path = tmp_path / "climate.nc"
    time = np.arange(20)
    tas = xarray.DataArray(np.arange(60.0, dtype="f4").reshape(20, 3), dims=["time", "lat"], coords={"time": time, "lat": [1.0, 2.0, 3.0]})
    tas.attrs["coordinates"] = "height"
    data = xarray.Dataset({"tas": tas, "height": 2.0, "count": (("time", "lat"), np.arange(60).reshape(20, 3))})
    how = {"zlib": True, "chunksizes": (5, 3)}
    data.to_netcdf(path, encoding={"tas": how, "count": how})
    return path


def damage(path: Path, name: str, chunk: int) -> None:
    """Overwrites a chunk of a dataset."""
    with h5py.File(path) as file:
        stored = file[name].id.get_chunk_info(chunk)
    with open(path, "r+b") as out:
        out.seek(stored.byte_offset)
        out.write(b"\xff" * stored.size)


def test_names_are_those_that_are_asked_for(climate: Path, tmp_path: Path) -> None:
    tetfile.convert(climate, tmp_path / "o.nc", rename={"lat": "latitude", "height": "z"}, include=["tas"])
    with xarray.open_dataset(tmp_path / "o.nc") as new:
        assert new["tas"].dims == ("time", "latitude")
        assert set(new.variables) == {"tas", "time", "latitude", "z"}
        np.testing.assert_array_equal(new["tas"], np.arange(60).reshape(20, 3))
    tetfile.convert(climate, tmp_path / "p.nc", rename={"*a*": "*b*"}, include=["tas"])
    assert {"tbs", "lbt"} <= set(tetfile.open(tmp_path / "p.nc"))
    with pytest.raises(tetfile.UsageError, match="nothing"):
        tetfile.convert(climate, tmp_path / "q.nc", rename={"nothing": "x"})


def test_damaged_elements_are_missing_values(climate: Path, tmp_path: Path) -> None:
    damage(climate, "tas", 1)
    with pytest.raises(tetfile.DamagedError):
        tetfile.convert(climate, tmp_path / "o.nc")
    with pytest.warns(UserWarning, match=r'"tas": time 5..9 cannot be read .*: 5 of 20 along time, 15 of 60 elements, are missing'):
        done = tetfile.convert(climate, tmp_path / "o.nc", salvage=True)
    assert len(done.losses) == 1
    with xarray.open_dataset(tmp_path / "o.nc") as new:
        wanted = np.arange(60.0).reshape(20, 3)
        wanted[5:10] = np.nan
        np.testing.assert_array_equal(new["tas"], wanted)
        np.testing.assert_array_equal(new["count"], np.arange(60).reshape(20, 3))


def test_damaged_integers_are_left_out(climate: Path, tmp_path: Path) -> None:
    damage(climate, "count", 3)
    with pytest.warns(UserWarning, match="time#0:15"):
        tetfile.convert(climate, tmp_path / "o.nc", salvage=True)
    assert "count" not in tetfile.open(tmp_path / "o.nc")
    with pytest.warns(UserWarning, match='"count": time 15..19'):
        tetfile.convert(climate, tmp_path / "o.nc", salvage=True, overwrite=True, dtype={"count": "float64"})
    with xarray.open_dataset(tmp_path / "o.nc") as new:
        assert np.isnan(new["count"][15:]).all() and (new["count"][:15] == np.arange(45).reshape(15, 3)).all()
