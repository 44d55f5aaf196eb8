"""Labels select what they select in xarray: numbers, texts and dates, in any order, one, ranges and lists of them."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import tetfile
import xarray

COUNT = 600


def _axes() -> dict[str, Any]:
    """Labels of every kind, each of a dozen positions or so."""
    chance = np.random.default_rng(8)
    irregular = np.datetime64("1999-12-30T21:00", "ns") + np.cumsum(chance.integers(1, 40, 14)).astype("m8[h]")
    return {
        "rising": np.linspace(-30, 25, 12),
        "falling": np.linspace(60, -60, 13).astype("f4"),
        "integers": np.array([3, 5, 8, 12, 40, 41, 42], "i4"),
        "unsigned": np.array([250, 200, 7, 0], "u1"),
        "mixed": np.array([5.0, 1.0, 9.5, -3.0, 4.0]),
        "repeated": np.array([0, 1, 1, 1, 2, 5, 5], "i8"),
        "scattered": np.array([2.5, 1.0, 2.5, 0.0, 1.0]),
        "sorted_names": np.array(["amber", "blue", "cyan", "red"], dtype=object),
        "names": np.array(["Oslo", "Rome", "Lima", "Bern"], dtype=object),
        "days": pandas.date_range("2023-12-25", periods=70).values,
        "hours": pandas.date_range("2024-02-28", periods=30, freq="6h").values,
        "backward": pandas.date_range("2024-02-28", periods=30, freq="6h").values[::-1],
        "months": pandas.date_range("2022-11-01", periods=16, freq="MS").values,
        "irregular": irregular,
        "old": np.array(["1690-10-20", "1700-01-01", "1750-05-05T12"], "M8[us]"),
    }


NUMBERS = ["rising", "falling", "integers", "unsigned", "mixed", "repeated", "scattered"]
DATES = ["days", "hours", "backward", "months", "irregular", "old"]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A file with a dataset for each axis, opened by tetfile and by xarray."""
    path = tmp_path_factory.mktemp("labels") / "axes.nc"
    made = {}
    for name, labels in _axes().items():
        made[f"of_{name}"] = ((name, "y"), np.arange(len(labels) * 2.0).reshape(-1, 2))
    units = {name: {"units": "hours since 1990-01-01", "dtype": "i8"} for name in ("hours", "backward", "irregular")}
    units["months"] = {"units": "days since 1850-01-01", "dtype": "f8"}
    units["days"] = {"units": "minutes since 2000-02-01T06:30", "dtype": "i4"}
    units["old"] = {"units": "hours since 1583-01-01", "dtype": "i8"}
    xarray.Dataset(made, _axes()).to_netcdf(path, engine="netcdf4", encoding=units)
    times = xarray.coders.CFDatetimeCoder(time_unit="us")
    return tetfile.open(path, decoded=True), xarray.open_dataset(path, engine="netcdf4", decode_times=times).load()


def _outcome(select: Any) -> Any:
    try:
        return select()
    except (KeyError, ValueError, TypeError, IndexError, pandas.errors.InvalidIndexError) as error:
        return error


def _same(found: Any, wanted: Any, what: str) -> bool:
    """Whether both are a result, which is then the same."""
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), f"{what}: {found[...]!r}, but xarray: {wanted!r}"
        return False
    assert not isinstance(found, Exception), f"{what}: {found!r}, but xarray: {wanted.values!r}"
    assert found.dims == wanted.dims, what
    assert np.array_equal(found[...], wanted.values), f"{what}: {found[...]!r}, not {wanted.values!r}"
    return True


def _number(chance: random.Random, labels: Any) -> Any:
    label = chance.choice(labels.tolist())
    kinds = [label, label, labels.dtype.type(label), float(label), label + chance.choice([0.25, -0.1, 3, 1000])]
    return chance.choice(kinds)


def _date(chance: random.Random, labels: Any) -> Any:
    """A date near one of the labels, as text of any precision or as an object."""
    date = np.datetime64(chance.choice(labels), "us") + np.timedelta64(chance.choice([0, 0, 0, 1, -1, 24, 24 * 40]), "h")
    date = chance.choice([date, date.astype("M8[D]"), date.astype("M8[M]")])
    text = str(date.astype(f"M8[{chance.choice('YMDDhhms')}]"))
    stamp = pandas.Timestamp(date.astype("M8[us]"))
    return chance.choice([text, text, text, date.astype("M8[us]"), stamp, stamp.to_pydatetime(warn=False)])


def _key(chance: random.Random, name: str, labels: Any) -> Any:
    def one() -> Any:
        if name in DATES:
            return _date(chance, labels)
        if name in NUMBERS:
            return _number(chance, labels)
        return chance.choice([*labels.tolist(), "b", "zebra", "Aarau"])

    kind = chance.random()
    if kind < 0.4:
        return one()
    if kind < 0.75:
        return slice(chance.choice([None, one()]), chance.choice([None, one()]), chance.choice([None, None, None, 1, 2]))
    if kind < 0.8:
        return [chance.random() < 0.5 for _ in labels]
    some = [chance.choice(labels) for _ in range(chance.randrange(1, 5))]
    return chance.choice([some, np.array(some), [*some, one()] if name not in DATES else some])


@pytest.mark.parametrize("name", _axes())
def test_labels_select_what_they_select_in_xarray(name: str, both: Any) -> None:
    ours, theirs = both
    labels = theirs[name].values
    ours, theirs = ours[f"of_{name}"], theirs[f"of_{name}"]
    chance = random.Random(name)
    compared = 0
    for _ in range(COUNT):
        key = _key(chance, name, labels)
        found, wanted = _outcome(lambda: ours.sel({name: key})), _outcome(lambda: theirs.sel({name: key}))
        if name == "backward" and isinstance(key, slice):
            # pandas refuses most ranges of falling dates.
            ends = slice(key.stop, key.start)
            wanted = _outcome(lambda: theirs[::-1].sel({name: ends})[:: -1 if key.step is None else -key.step])
        compared += _same(found, wanted, f"{name}={key!r}")
    assert compared > COUNT // 4


@pytest.mark.parametrize("name", ["rising", "falling", "integers", "unsigned", *DATES])
def test_the_nearest_labels_are_those_of_xarray(name: str, both: Any) -> None:
    ours, theirs = both
    labels = theirs[name].values
    ours, theirs = ours[f"of_{name}"], theirs[f"of_{name}"]
    chance = random.Random(name)
    compared = 0
    for _ in range(COUNT):
        dated = name in DATES
        one = (lambda: np.datetime64(_date(chance, labels), "us")) if dated else (lambda: _number(chance, labels) + chance.random())
        key = chance.choice([one(), [one(), one()], np.array([one() for _ in range(3)])])
        far = chance.choice([1, 5, 30])
        tolerance = chance.choice([None, None, np.timedelta64(far, "h") if dated else far])
        found = _outcome(lambda: ours.sel({name: key}, method="nearest", tolerance=tolerance))
        wanted = _outcome(lambda: theirs.sel({name: key}, method="nearest", tolerance=tolerance))
        compared += _same(found, wanted, f"{name}={key!r} within {tolerance}")
    assert compared > COUNT // 4


@pytest.mark.parametrize("calendar", ["noleap", "360_day", "all_leap", "julian", "standard", "proleptic_gregorian"])
def test_calendars_are_those_of_cftime(calendar: str, tmp_path: Path) -> None:
    start = "1580-06-15" if calendar in ("julian", "standard") else "2023-12-15"
    times = xarray.date_range(start, periods=90, freq="D", calendar=calendar, use_cftime=True)
    made = xarray.Dataset({"x": (("time",), np.arange(90.0))}, {"time": times})
    made.to_netcdf(tmp_path / "x.nc", encoding={"time": {"units": "days since 1500-03-01", "dtype": "f8"}})
    times_of = xarray.coders.CFDatetimeCoder(use_cftime=True)
    with xarray.open_dataset(tmp_path / "x.nc", decode_times=times_of) as theirs, tetfile.open(tmp_path / "x.nc", decoded=True) as f:
        ours = f["x"]
        labels = ours.labels("time")
        if labels.dtype == object:
            assert list(labels) == list(theirs["time"].values)
        year = start[:4]
        keys: list[Any] = [f"{year}-12", f"{int(year) + 1}", slice(f"{year}-07-03", f"{int(year) + 1}-01")]
        keys += [times[5], slice(times[5], times[30]), [times[7], times[2]]]
        for key in keys if calendar not in ("julian", "standard") else keys[2:]:
            wanted = theirs["x"].sel(time=key)
            found = ours.sel(time=key)
            assert np.array_equal(found[...], wanted.values), key
        # A whole date is one position here, as in pandas; a series of cftime keeps the axis.
        day = str(times[9])[:10]
        assert ours.sel(time=day)[...] == theirs["x"].sel(time=day).values[0]
        off = times[9] + datetime.timedelta(hours=7)
        assert ours.sel(time=off, method="nearest")[...] == 9
        if calendar == "360_day":
            assert ours.sel(time="2023-12-30").shape == ()
        with pytest.raises(KeyError):
            ours.sel(time="2024-01-31" if calendar == "360_day" else "2023-02-30")


def test_dates_past_nanoseconds_are_dates(tmp_path: Path) -> None:
    times = np.array(["1583-01-01", "1600-02-29", "5000-01-01", "9999-12-31"], "M8[us]")
    made = xarray.Dataset({"x": (("time",), np.arange(4.0))}, {"time": times})
    made.to_netcdf(tmp_path / "x.nc", encoding={"time": {"units": "days since 1970-01-01", "dtype": "i8"}})
    with tetfile.open(tmp_path / "x.nc", decoded=True) as f:
        assert np.array_equal(f["x"].labels("time"), times)
        assert f["x"].sel(time="1600-02")[...] == [1.0] and f["x"].sel(time="9999-12-31")[...] == 3.0
        assert list(f["x"].sel(time=slice("1600", "5000"))[...]) == [1.0, 2.0]
        assert f["x"].sel(time="4000-01-01", method="nearest")[...] == 2.0


def test_labels_of_a_file_that_is_not_decoded_are_numbers(files: Path) -> None:
    with tetfile.open(files / "climate.nc") as raw, tetfile.open(files / "climate.nc", decoded=True) as decoded:
        assert np.array_equal(raw["temp"].labels("time"), np.arange(12) * 30.5)
        with xarray.open_dataset(files / "climate.nc") as theirs:
            assert np.array_equal(decoded["temp"].coords["time"], theirs["time"].values)
        # Both take dates and numbers.
        for f in (raw, decoded):
            assert f["temp"].sel(time="2024-03", lat=0, lon=0).shape == (1,)
            assert f["temp"].sel(time=61.0, lat=0, lon=0)[...] == f["temp"].sel(time="2024-03", lat=0, lon=0)[0]
            assert f["temp"].sel(time=datetime.date(2024, 3, 2), lat=0, lon=0).shape == ()
            with pytest.raises(KeyError, match="write it as"):
                f["temp"].sel(time="March")
            with pytest.raises(KeyError, match="no times"):
                f["temp"].sel(lat="2024-01")


@pytest.mark.parametrize("units", ["days since noon", "fortnights since 2000-01-01", "K", "days since 2000-02-31", "days", ""])
def test_units_that_are_no_times_leave_numbers(units: str, tmp_path: Path) -> None:
    made = xarray.Dataset({"x": (("time",), np.arange(3.0))}, {"time": ("time", np.arange(3), {"units": units} if units else {})})
    made.to_netcdf(tmp_path / "x.nc")
    with tetfile.open(tmp_path / "x.nc", decoded=True) as f:
        assert np.array_equal(f["x"].labels("time"), [0, 1, 2])
        assert f["x"].sel(time=1)[...] == 1.0


def test_names_of_axes_may_be_those_of_arguments(tmp_path: Path) -> None:
    made = xarray.Dataset({"x": (("method", "a b"), np.arange(6.0).reshape(2, 3))}, {"method": [1, 2], "a b": [4, 5, 6]})
    made.to_netcdf(tmp_path / "x.nc")
    with tetfile.open(tmp_path / "x.nc") as f:
        assert f["x"].sel({"method": 2, "a b": [6, 4]})[...].tolist() == [5.0, 3.0]
        assert f["x"].isel({"a b": 1})[...].tolist() == [1.0, 4.0]
        with pytest.raises(ValueError, match="tolerance"):
            f["x"].sel({"method": 2}, tolerance=1)


def test_a_part_of_picked_labels_is_like_any_other_part(files: Path) -> None:
    import pickle

    import dask

    with tetfile.open(files / "climate.nc") as f:
        part = f["temp"].sel(lat=[30, 0, 10], time=slice(30.5, None)).isel(lon=[6, 1, 1])
        array = f["temp"][1:, [3, 0, 1]][:, :, [6, 1, 1]]
        assert part.shape == array.shape and np.array_equal(part[...], array)
        assert np.array_equal(part.labels("lat"), [30, 0, 10]) and np.array_equal(part.labels("lon"), [270, 45, 45])
        assert np.array_equal(np.asarray(part), array) and np.array_equal(part[2:4, ::-1, 0], array[2:4, ::-1, 0])
        assert np.array_equal(pickle.loads(pickle.dumps(part))[...], array)
        assert dask.base.tokenize(part) != dask.base.tokenize(f["temp"].isel(time=slice(1, None)))
        out = np.empty(part.shape, "f4")
        part.read_into(out)
        assert np.array_equal(out, array)
        joined = np.zeros(part.shape)
        for key in part.iter_chunks():
            joined[key] += part[key]
        assert np.array_equal(joined, array)
        assert "part of (12, 4, 8)" in repr(part)
        assert np.array_equal(part.sel(lat=0)[...], array[:, 1])


def test_reductions_of_picked_positions_are_those_of_the_array(files: Path) -> None:
    with tetfile.open(files / "climate.nc") as f:
        for lat, lon in [([3, 0], [1, 4, 5]), ([0, 2, 3], slice(1, 7, 2)), ([2, 2], [7, 0])]:
            part, array = f["temp"].isel(lat=lat, lon=lon), f["temp"][:, lat][:, :, lon].astype("f8")
            for axis in [0, 2, (0, 2), None, 1, (1, 2)]:
                repeats = lat == [2, 2] and axis not in (0, 2, (0, 2))
                for op in ("mean", "max", "sum", "std", "median"):
                    if repeats:
                        with pytest.raises(tetfile.UsageError, match="repeated"):
                            getattr(part, op)(axis)
                    else:
                        assert np.allclose(getattr(part, op)(axis), getattr(np, op)(array, axis=axis)), (lat, lon, axis, op)
            assert np.allclose(part.quantile([0.1, 0.5], 0), np.quantile(array, [0.1, 0.5], axis=0))
        ordered = f["temp"].isel(lat=[0, 1, 3], lon=[2, 3, 7])
        array = ordered[...]
        for axis in [None, 0, 1, 2]:
            assert np.array_equal(ordered.argmax(axis), array.argmax(axis)) and np.array_equal(ordered.argmin(axis), array.argmin(axis))
        weights = np.array([1.0, 0.5, 0.25])
        part = f["temp"].isel(lat=[3, 0, 1])
        assert np.allclose(part.mean(weights={"lat": weights}), np.average(part[...].mean(axis=(0, 2), dtype=float), weights=weights))
        assert np.allclose(part.mean(dim="lat", weights={"lat": weights}), np.average(part[...].astype(float), 1, weights))
