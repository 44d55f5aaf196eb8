"""What `to_tet` stores is what is read back: of a new file, of one that grows, of a region of one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import cftime
import numpy as np
import pandas
import pytest
import tetfile
import tetfile.xarray
import xarray

BLOCKS = pytest.mark.parametrize("chunks", [None, {}], ids=["numpy", "dask"])


def days(first: str, count: int = 2, **more: Any) -> xarray.Dataset:
    return xarray.Dataset({"v": ("time", np.arange(float(count)))}, {"time": pandas.date_range(first, periods=count, **more)})


def read(path: Path) -> xarray.Dataset:
    with xarray.open_dataset(path, engine="tet") as found:
        return found.load()


def written(made: xarray.Dataset, chunks: Any, path: Path, **how: Any) -> None:
    (made if chunks is None else made.chunk(chunks)).tet.to_tet(path, **how)


@BLOCKS
@pytest.mark.parametrize("how", [{"append_dim": "time"}, {"region": {"time": slice(0, 2)}}], ids=["append", "region"])
def test_times_count_the_units_of_the_file_or_are_refused(tmp_path: Path, chunks: Any, how: Any) -> None:
    path = tmp_path / "x.tet"
    days("2020-01-01").tet.to_tet(path)
    before = path.read_bytes()
    with pytest.raises(OverflowError, match="'time' counts 'days since 2020-01-01"):
        written(days("2021-06-01 06:00"), chunks, path, **how)
    assert path.read_bytes() == before
    written(days("2021-06-01"), chunks, path, **how)
    wanted = ["2021-06-01", "2021-06-02"] if "region" in how else ["2020-01-01", "2020-01-02", "2021-06-01", "2021-06-02"]
    np.testing.assert_array_equal(read(path)["time"], np.array(wanted, "M8[ns]"))


def test_dates_of_variables_and_of_bounds_are_those_that_were_given(tmp_path: Path) -> None:
    def made(first: str, calendar: str = "standard") -> xarray.Dataset:
        time = xarray.date_range(first, periods=2, calendar=calendar, use_cftime=calendar != "standard")
        bounds = np.stack([time.values, time.shift(1, "D").values], axis=-1)
        found = xarray.Dataset({"bounds": (("time", "edge"), bounds), "issued": ("time", time)}, {"time": time})
        found["time"].attrs["bounds"] = "bounds"
        found["time"].encoding["units"] = "days since 2000-01-01"
        found["span"] = ("time", np.array([1, 2], "m8[s]"))
        return found

    for calendar in ("standard", "noleap"):
        path = tmp_path / f"{calendar}.tet"
        first, second = made("2001-01-01", calendar), made("2004-02-28", calendar)
        first.tet.to_tet(path)
        second.tet.to_tet(path, append_dim="time")
        wanted = xarray.concat([first, second], "time")
        for name in ("time", "bounds", "issued"):
            np.testing.assert_array_equal(read(path)[name], wanted[name])
        with xarray.open_dataset(path, engine="tet", decode_timedelta=True) as found:
            np.testing.assert_array_equal(found["span"], wanted["span"])
        late = made("2005-01-01", calendar)
        late["time"] = [cftime.datetime(2005, 1, 1, 6, calendar=calendar)] * 2 if calendar != "standard" else late["time"] + np.timedelta64(6, "h")
        with pytest.raises(OverflowError):
            late.tet.to_tet(path, append_dim="time")
    with pytest.raises(tetfile.UsageError, match="calendar"):
        made("2006-01-01").tet.to_tet(tmp_path / "noleap.tet", append_dim="time")


@BLOCKS
def test_values_that_the_type_of_the_file_does_not_have_are_refused(tmp_path: Path, chunks: Any) -> None:
    path = tmp_path / "x.tet"
    xarray.Dataset({"v": ("s", np.array([1, 2], "i4"))}).tet.to_tet(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for values in ([1.5, 2.0], [1.0, np.nan], [1e10, 1.0]):
            with pytest.raises(OverflowError, match="'v' is stored as int32"):
                written(xarray.Dataset({"v": ("s", values)}), chunks, path, append_dim="s")
    written(xarray.Dataset({"v": ("s", [5.0, 7.0])}), chunks, path, append_dim="s")
    assert read(path)["v"].values.tolist() == [1, 2, 5, 7]


@BLOCKS
def test_packed_values_are_in_the_range_of_the_packing(tmp_path: Path, chunks: Any) -> None:
    path = tmp_path / "x.tet"
    packing = {"dtype": "i2", "scale_factor": 0.1, "add_offset": 5.0, "_FillValue": -999}

    def packed(values: Any) -> xarray.Dataset:
        made = xarray.Dataset({"v": ("s", values)})
        made["v"].encoding = packing
        return made

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(OverflowError, match="1000000.0"):
            written(packed([1e6]), chunks, path)
        written(packed([1.5, np.nan]), chunks, path, overwrite=True)
        with pytest.raises(OverflowError, match="1000000.0"):
            written(xarray.Dataset({"v": ("s", [1e6])}), chunks, path, append_dim="s")
    written(xarray.Dataset({"v": ("s", [1.23456, np.nan])}), chunks, path, append_dim="s")
    np.testing.assert_allclose(read(path)["v"], [1.5, np.nan, 1.2, np.nan])
    # Elements that are not decoded are stored as they are.
    with xarray.open_dataset(path, engine="tet", mask_and_scale=False, chunks=chunks) as raw:
        raw.load().tet.to_tet(path, append_dim="s")
        with pytest.raises(tetfile.UsageError, match="scale_factor 0.5, and 0.1 in the file"):
            raw["v"].attrs["scale_factor"] = 0.5
            raw.tet.to_tet(path, append_dim="s")
    np.testing.assert_allclose(read(path)["v"], [1.5, np.nan, 1.2, np.nan] * 2)


def test_other_units_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    first, second = days("2020-01-01"), days("2020-01-03")
    first["v"].attrs["units"], second["v"].attrs["units"] = "K", "degC"
    first.tet.to_tet(path)
    with pytest.raises(tetfile.UsageError, match="'v' has units 'degC', and 'K' in the file"):
        second.tet.to_tet(path, append_dim="time")
    second["v"].attrs["units"] = "K"
    second.tet.to_tet(path, append_dim="time")
    assert read(path).sizes["time"] == 4


def test_a_plan_that_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    tetfile.plan(path, {"v": tetfile.Spec((2,), "f8")})
    with pytest.raises(FileExistsError):
        days("2020-01-01").chunk().tet.to_tet(path)
    days("2020-01-01").chunk().tet.to_tet(path, overwrite=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["x.tet"]


def test_folders_of_parts_grow(tmp_path: Path) -> None:
    path = tmp_path / "x.tets"
    days("2020-01-01").tet.to_tet(path)
    days("2020-01-03").tet.to_tet(path, append_dim="time")
    found = xarray.open_dataset(path)
    np.testing.assert_array_equal(found["time"], pandas.date_range("2020-01-01", periods=4))
    found.close()
    with pytest.raises(OverflowError):
        days("2020-01-05 06:00").tet.to_tet(path, append_dim="time")


def test_names_with_a_slash_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tetfile.UsageError, match="slash"):
        xarray.Dataset({"a/b": ("x", [1.0])}).tet.to_tet(tmp_path / "x.tet")


def test_a_region_is_a_mapping(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="region is a mapping"):
        days("2020-01-01").tet.to_tet(tmp_path / "x.tet", region="auto")


def test_blocks_of_a_prime_extent_are_divided_at_once() -> None:
    from tetfile._to_tet import _divided

    assert _divided((10**8 + 7,), 8) == (1,)
    assert _divided((1 << 25,), 8) == (1 << 21,)
    assert _divided((12, 1 << 20), 8) == (2, 1 << 20)
    assert _divided((3, 5), 8) == (3, 5)
    assert _divided((7, 1 << 22, 3), 4) == (1, 1 << 20, 3)
