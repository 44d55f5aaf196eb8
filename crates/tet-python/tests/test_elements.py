"""What is written is what is read back, or it is refused: dates, masked elements, values that the type does not have."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import cftime
import dask.array
import h5py
import netCDF4
import numpy as np
import pandas
import pytest
import tetfile
import tetfile.xarray
import xarray
import zarr


def times_of(path: Path, name: str = "time") -> Any:
    with xarray.open_dataset(path, engine="tet") as found:
        return found[name].values


def log_of(path: Path, units: str, dtype: Any, **more: Any) -> Path:
    """A file with one time, 0 of its units."""
    with tetfile.create(path, overwrite=True) as out:
        out["time"] = tetfile.Spec((1,), dtype, dims=("time",), attrs={"units": units, **more})
        out["time"][...] = 0
    return path


UNITS = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("numpy_unit", ["D", "h", "s", "ms", "ns"])
@pytest.mark.parametrize("calendar", ["standard", "proleptic_gregorian"])
def test_dates_that_are_appended_count_the_units_of_the_dataset(tmp_path: Path, unit: str, numpy_unit: str, calendar: str) -> None:
    path = log_of(tmp_path / "x.tet", f"{unit} since 2000-03-01", "i8", calendar=calendar)
    dates = np.array(["1999-12-31", "2020-01-02"], f"M8[{numpy_unit}]")
    tetfile.append(path, {"time": dates}, axis="time")
    np.testing.assert_array_equal(times_of(path)[1:], dates.astype("M8[ns]"))
    wanted = cftime.date2num([datetime.datetime(1999, 12, 31), datetime.datetime(2020, 1, 2)], f"{unit} since 2000-03-01", calendar)
    assert tetfile.open(path)["time"][1:].tolist() == wanted.tolist()


def test_dates_of_a_dataset_of_dates_keep_their_unit(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    with tetfile.create(path) as out:
        out["time"] = tetfile.Spec((1,), "M8[ns]", dims=("time",))
        out["time"][...] = np.array(["2020-01-01"], "M8[ns]")
    tetfile.append(path, {"time": np.array(["2020-01-02"], "M8[D]")}, axis="time")
    tetfile.append(path, {"time": [datetime.datetime(2020, 1, 3, 6)]}, axis="time")
    tetfile.append(path, {"time": [pandas.Timestamp("2020-01-04 00:00:00.000000007")]}, axis="time")
    wanted = np.array(["2020-01-01", "2020-01-02", "2020-01-03T06", "2020-01-04T00:00:00.000000007"], "M8[ns]")
    np.testing.assert_array_equal(times_of(path), wanted)


def test_dates_between_those_that_are_counted_are_refused(tmp_path: Path) -> None:
    path = log_of(tmp_path / "x.tet", "days since 2000-01-01", "i4")
    before = path.read_bytes()
    for dates in (np.array(["2000-01-02T06"], "M8[h]"), np.array(["2000-01-02", "NaT"], "M8[D]"), [datetime.datetime(2000, 1, 2, 6)]):
        with pytest.raises((OverflowError, tetfile.UsageError), match="'time'"):
            tetfile.append(path, {"time": dates}, axis="time")
    with pytest.raises(tetfile.UsageError, match="time zone"):
        tetfile.append(path, {"time": [datetime.datetime(2000, 1, 2, tzinfo=datetime.timezone.utc)]}, axis="time")
    assert path.read_bytes() == before
    floats = log_of(tmp_path / "f.tet", "days since 2000-01-01", "f8")
    tetfile.append(floats, {"time": np.array(["2000-01-02T06", "NaT"], "M8[h]")}, axis="time")
    np.testing.assert_array_equal(tetfile.open(floats)["time"][...], [0, 1.25, np.nan])
    short = log_of(tmp_path / "s.tet", "seconds since 1970-01-01", "f4")
    with pytest.raises(OverflowError):
        tetfile.append(short, {"time": np.array(["2024-01-02T06:00:01"], "M8[s]")}, axis="time")


def test_dates_of_other_calendars_are_those_of_cftime(tmp_path: Path) -> None:
    path = log_of(tmp_path / "x.tet", "days since 2000-01-01", "i8", calendar="noleap")
    tetfile.append(path, {"time": [cftime.datetime(2000, 3, 1, calendar="noleap")]}, axis="time")
    assert tetfile.open(path)["time"][...].tolist() == [0, 59]
    for wrong in (np.array(["2000-03-01"], "M8[D]"), [cftime.datetime(2000, 3, 1, calendar="360_day")]):
        with pytest.raises(tetfile.UsageError, match="calendar"):
            tetfile.append(path, {"time": wrong}, axis="time")
    old = log_of(tmp_path / "old.tet", "days since 0001-01-01", "i8", calendar="standard")
    tetfile.append(old, {"time": np.array(["2000-03-01"], "M8[D]")}, axis="time")
    wanted = cftime.date2num(datetime.datetime(2000, 3, 1), "days since 0001-01-01", "standard")
    assert tetfile.open(old)["time"][1] == wanted


def test_dates_need_units(tmp_path: Path) -> None:
    dates = np.array(["2020-01-02"], "M8[D]")
    out = tetfile.create(tmp_path / "x.tet")
    for name, spec in {
        "integers": tetfile.Spec((1,), "i8"),
        "floats": tetfile.Spec((1,), "f8"),
        "lengths": tetfile.Spec((1,), "f8", attrs={"units": "days"}),
    }.items():
        out[name] = spec
        with pytest.raises(tetfile.UsageError, match="units"):
            out[name][...] = dates
    out["days"] = tetfile.Spec((1,), "M8[ns]", attrs={"units": "days since 2020-01-01"})
    out["days"][...] = dates
    for name in ("integers", "floats", "lengths"):
        out[name][...] = 0
    out["spans"] = np.array([1, 90, "NaT"], "m8[s]")
    out["minutes"] = tetfile.Spec((1,), "i4", attrs={"units": "minutes"})
    out["minutes"][...] = np.timedelta64(2, "h")
    out.commit()
    assert tetfile.open(tmp_path / "x.tet")["days"][0] == 1
    assert tetfile.open(tmp_path / "x.tet")["minutes"][0] == 120
    assert times_of(tmp_path / "x.tet", "days") == dates[0]
    np.testing.assert_array_equal(times_of(tmp_path / "x.tet", "spans"), np.array([1, 90, "NaT"], "m8[s]"))


def test_blocks_of_finer_dates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OverflowError, match=r"'v' is of datetime64\[D\]"):
        with tetfile.create(tmp_path / "x.tet") as out:
            out["v"] = iter([np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-02T05"], "M8[h]")])
    with tetfile.create(tmp_path / "x.tet") as out:
        out["v"] = iter([np.array(["2020-01-01T01"], "M8[h]"), np.array(["2020-01-02"], "M8[D]")])
    np.testing.assert_array_equal(times_of(tmp_path / "x.tet", "v"), np.array(["2020-01-01T01", "2020-01-02T00"], "M8[ns]"))


def test_values_that_the_type_does_not_have_are_refused(tmp_path: Path) -> None:
    kinds: dict[str, list[Any]] = {
        "i2": [1.5, np.nan, 70_000, 1j, -40_000.0],
        "i8": [2.0**63, np.array([2**70], object), np.array([1.5], object)],
        "u1": [-1, 256],
        "f4": [1e300, 1 + 2j],
        "f2": [70_000],
        "?": [2],
    }
    out = tetfile.create(tmp_path / "x.tet")
    for kind, values in kinds.items():
        out[kind] = tetfile.Spec((1,), kind, fill=0)
        for value in values:
            with pytest.raises(OverflowError):
                out[kind][...] = value
        out[kind][...] = 1
    out["f4"][...] = np.inf
    out.discard()


def test_masked_elements_are_missing(tmp_path: Path) -> None:
    floats = np.ma.masked_array([1.0, -32768.0, 3.0], [0, 1, 0])
    integers = np.ma.masked_array(np.array([1, 2, 3], "i2"), [1, 0, 0])
    filled = np.ma.masked_array(np.array([1, 2, 3], "u1"), [1, 0, 0], fill_value=200)
    dates = np.ma.masked_array(np.array(["2020-01-01", "2021-01-01"], "M8[D]"), [1, 0])
    with tetfile.create(tmp_path / "x.tet", {"floats": floats, "integers": integers, "filled": filled, "dates": dates}) as out:
        out["blocks"] = iter([np.ma.masked_array(np.arange(3), [0, 0, 0]), np.ma.masked_array(np.arange(3), [0, 1, 0])])
        out["listed"] = [np.ma.masked_array([1.0, 2.0], [0, 1]), np.ma.masked_array([3.0, 4.0], [1, 0])]
        out["region"] = tetfile.Spec((3,), "i2", attrs={"_FillValue": -9})
        out["region"][...] = integers
        out["lazy"] = dask.array.from_array(floats, chunks=2)
        out["none"] = np.ma.masked_array(np.arange(3), [0, 0, 0])
        out["bare"] = tetfile.Spec((3,), "i2", fill=0)
        with pytest.raises(tetfile.UsageError, match="'bare' has no value for masked elements"):
            out["bare"][...] = integers
        with pytest.raises(OverflowError, match="stands for masked ones"):
            out["region"][...] = np.ma.masked_array([1, -9, 3], [1, 0, 0])
        with pytest.raises(tetfile.UsageError):
            out["flags"] = np.ma.masked_array([True, False], [1, 0])
    with xarray.open_dataset(tmp_path / "x.tet", engine="tet") as found:
        np.testing.assert_array_equal(found["floats"], floats.filled(np.nan))
        np.testing.assert_array_equal(found["lazy"], floats.filled(np.nan))
        np.testing.assert_array_equal(found["integers"], [np.nan, 2, 3])
        np.testing.assert_array_equal(found["filled"], [np.nan, 2, 3])
        np.testing.assert_array_equal(found["region"], [np.nan, 2, 3])
        np.testing.assert_array_equal(found["dates"], np.array(["NaT", "2021-01-01"], "M8[ns]"))
        np.testing.assert_array_equal(found["blocks"], [0, 1, 2, 0, np.nan, 2])
        np.testing.assert_array_equal(found["listed"], [[1, np.nan], [np.nan, 4]])
    with tetfile.open(tmp_path / "x.tet") as found:
        assert found["filled"][0] == 200 and found["none"].attrs == {}
        assert np.isnan(found["floats"].mean()) and "flags" not in found


def test_a_masked_array_of_netcdf4_is_what_netcdf4_reads(tmp_path: Path) -> None:
    values = np.array([[np.nan, 1.5], [2.5, -3.5]])
    packing = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": np.int16(-32768)}
    xarray.Dataset({"t": (("y", "x"), values, {"units": "K"})}).to_netcdf(tmp_path / "x.nc", encoding={"t": packing})
    with netCDF4.Dataset(tmp_path / "x.nc") as source, tetfile.create(tmp_path / "x.tet") as out:
        out["decoded"] = source["t"][:]
        out["packed"] = source["t"]
        assert source["t"].mask and source["t"].scale
    with xarray.open_dataset(tmp_path / "x.tet", engine="tet") as found:
        np.testing.assert_array_equal(found["decoded"], values)
        np.testing.assert_array_equal(found["packed"], values)
        assert found["packed"].dims == ("y", "x") and found["packed"].attrs == {"units": "K"}


def test_datasets_of_other_packages_keep_their_attributes(tmp_path: Path) -> None:
    made = xarray.Dataset({"t": ("x", [1.5, np.nan], {"units": "K"})}, {"x": [10, 20]}, {"title": "made"})
    packing = {"t": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": np.int16(-1)}}
    made.to_netcdf(tmp_path / "x.nc", encoding=packing)
    for version in (2, 3):
        made.to_zarr(tmp_path / f"{version}.zarr", encoding=packing, zarr_format=version, consolidated=False)
    with h5py.File(tmp_path / "x.nc") as source, tetfile.create(tmp_path / "x.tet") as out:
        out["h5py"] = source["t"]
        for version in (2, 3):
            out[f"zarr{version}"] = zarr.open_group(tmp_path / f"{version}.zarr", mode="r")["t"]
    with xarray.open_dataset(tmp_path / "x.tet", engine="tet") as found:
        for name in ("h5py", "zarr2", "zarr3"):
            np.testing.assert_array_equal(found[name], made["t"])
            assert found[name].dims == ("x",) and found[name].attrs == {"units": "K"}, name
    with tetfile.create(tmp_path / "all.tet", made, attrs={"more": 1}) as out:
        assert set(out) == {"t", "x"}
    assert tetfile.open(tmp_path / "all.tet").attrs == {"title": "made", "more": 1}


def test_arrays_of_pandas_keep_their_labels(tmp_path: Path) -> None:
    series = pandas.Series([1.0, 2.0], index=pandas.Index(["a", "b"], name="site"))
    frame = pandas.DataFrame([[1, 2], [3, 4]], pandas.Index([5, 6], name="y"), pandas.Index(["u", "v"], name="x"))
    with tetfile.create(tmp_path / "x.tet", {"series": series, "frame": frame, "plain": pandas.Series([7.0, 8.0])}):
        pass
    with tetfile.open(tmp_path / "x.tet") as found:
        assert found["series"].sel(site="b")[()] == 2
        assert found["frame"].sel(y=6, x="u")[()] == 3
        assert found["plain"].dims is None and found["plain"][1] == 8


def test_an_assignment_that_fails_leaves_no_dataset(tmp_path: Path) -> None:
    def blocks() -> Any:
        yield np.zeros((2, 3))
        raise RuntimeError("in the generator")

    with tetfile.create(tmp_path / "x.tet", {"first": np.arange(2)}) as out:
        with pytest.raises(RuntimeError, match="in the generator"):
            out["a"] = blocks()
        with pytest.raises(tetfile.UsageError, match="a block of 'b'"):
            out["b"] = iter([np.zeros((2, 3)), np.zeros((2, 4))])
        with pytest.raises(tetfile.UnsupportedError):
            out["c"] = np.array(["a"])
        assert list(out) == ["first"]
        out["a"] = np.arange(3.0)
        out["last"] = iter([np.arange(4), np.arange(2)])
    with tetfile.open(tmp_path / "x.tet") as found:
        assert {name: found.dataset(name)[...].tolist() for name in found} == {
            "first": [0, 1],
            "a": [0, 1, 2],
            "last": [0, 1, 2, 3, 0, 1],
        }


def test_looking_for_missing_chunks_takes_as_long_as_there_are_written_ones(tmp_path: Path) -> None:
    out = tetfile.create(tmp_path / "x.tet", {"x": tetfile.Spec((2**45,), "i1", chunks=(1,))})
    out["x"][2:4] = 1
    with pytest.raises(tetfile.UsageError, match=rf"{2**45 - 2} chunks are not written: \[0\] of .x., \[1\] of .x., \[4\]"):
        out.commit()
    out.discard()


def test_messages_name_the_type(tmp_path: Path) -> None:
    out = tetfile.create(tmp_path / "x.tet")
    for value, advice in {np.longdouble: "convert them to float64", "U3": "labels of an axis", "V3": "each member"}.items():
        with pytest.raises(tetfile.UnsupportedError, match=advice):
            out["x"] = np.zeros(1, value)
    out.discard()


@pytest.mark.parametrize("align", [False, True])
def test_structures_of_numpy_have_members(align: bool, tmp_path: Path) -> None:
    fields: Any = [
        ("id", "i1"),
        ("t", ">f8"),
        ("at", [("x", "<f4"), ("y", ">i2")]),
        (("a title", "w"), "<u2", (2, 3)),
        ("name", "<U4"),
        ("tag", "S3"),
        ("ok", "?"),
        ("c", ">c8"),
    ]
    rows = np.zeros((2, 3), np.dtype(fields, align=align))
    for number, name in enumerate(("id", "t", "c")):
        rows[name] = np.arange(6).reshape(2, 3) + number
    rows["at"]["x"], rows["at"]["y"] = 0.5, np.arange(6).reshape(2, 3)
    rows["w"] = np.arange(36).reshape(2, 3, 2, 3)
    rows["name"], rows["tag"], rows["ok"] = "søk", b"ab", [[True, False, True]] * 2
    np.save(tmp_path / "rows.npy", rows)
    np.savez(tmp_path / "stored.npz", rows=rows)
    np.savez_compressed(tmp_path / "packed.npz", rows=rows)
    for name in ("rows.npy", "stored.npz", "packed.npz"):
        file = tetfile.open(tmp_path / name)
        for member in ("id", "t", "w", "ok", "c"):
            np.testing.assert_array_equal(file[f"rows.{member}"][:], rows[member], err_msg=f"{name}: {member}")
        np.testing.assert_array_equal(file["rows.at.x"][:], rows["at"]["x"])
        np.testing.assert_array_equal(file["rows"]["at.y"][1, 1:], rows["at"]["y"][1, 1:])
        assert file["rows.name"][0, 0] == "søk" and file["rows.tag"][1, 2] == "ab"
    np.save(tmp_path / "turned.npy", np.asfortranarray(rows))
    with pytest.raises(tetfile.UnsupportedError, match="column-major"):
        tetfile.open(tmp_path / "turned.npy")["turned"][:]
