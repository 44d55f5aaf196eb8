"""Parts by positions and labels: those that xarray selects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tetfile
import xarray


@pytest.fixture(scope="module")
def both(files: Path) -> tuple[tetfile.Dataset, xarray.DataArray]:
    theirs = xarray.open_dataset(files / "climate.nc", decode_times=False)["temp"].load()
    return tetfile.open(files / "climate.nc")["temp"], theirs


ISEL: list[dict[str, Any]] = [
    {"time": 0},
    {"time": -1, "lon": 3},
    {"lat": slice(1, 3)},
    {"time": slice(2, None, 3), "lat": slice(-2, None)},
    {"lon": slice(5, 2)},
    {"time": 4, "lat": 1, "lon": 7},
    {"time": [3, 0, 3, -1], "lat": np.array([True, False, True, True])},
    {"lon": slice(None, None, -3), "time": 2},
    {"lat": [], "lon": [5]},
]


@pytest.mark.parametrize("key", ISEL)
def test_positions_are_those_of_xarray(key: dict[str, Any], both: Any) -> None:
    ours, theirs = both
    found, wanted = ours.isel(**key), theirs.isel(**key)
    assert found.dims == wanted.dims and found.shape == wanted.shape
    assert np.array_equal(found[...], wanted.values)
    for dim in found.dims:
        assert np.array_equal(found.labels(dim), wanted[dim].values)


SEL: list[dict[str, Any]] = [
    {"lat": 10.0},
    {"lat": 10},
    {"lat": np.float32(20)},
    {"lat": slice(10, 30)},
    {"lat": slice(None, 10)},
    {"lat": slice(20, None), "lon": 45.0},
    {"time": slice(30.5, 61.0), "lat": 0.0},
    {"lat": [30, 0, 10, 30], "lon": slice(None, None, 2)},
    {"lat": np.array([20.0], "f4")},
    {"lat": np.array([True, False, True, False])},
    {"lon": []},
]


@pytest.mark.parametrize("key", SEL)
def test_labels_are_those_of_xarray(key: dict[str, Any], both: Any) -> None:
    ours, theirs = both
    found, wanted = ours.sel(**key), theirs.sel(**key)
    assert found.dims == wanted.dims
    assert np.array_equal(found[...], wanted.values)


@pytest.mark.parametrize("label", [-5, 3.0, 14.9, 15.1, 29, 100.0])
def test_the_nearest_label_is_that_of_xarray(label: float, both: Any) -> None:
    ours, theirs = both
    found, wanted = ours.sel(method="nearest", lat=label), theirs.sel(lat=label, method="nearest")
    assert np.array_equal(found[...], wanted.values)


def test_parts_of_parts_are_selected(both: Any) -> None:
    ours, theirs = both
    found = ours.isel(lat=slice(1, 4), lon=slice(1, 8, 2)).sel(lat=slice(10, 20), lon=slice(45.0, 225.0)).isel(lon=-1)
    wanted = theirs.isel(lat=slice(1, 4), lon=slice(1, 8, 2)).sel(lat=slice(10, 20), lon=slice(45, 225)).isel(lon=-1)
    assert np.array_equal(found[...], wanted.values)
    assert np.array_equal(found.mean(dim="time"), wanted.astype("f8").mean("time").values)
    # A label that is in the file and not in the part.
    with pytest.raises(KeyError):
        ours.isel(lat=slice(0, 2)).sel(lat=30.0)
    with pytest.raises(KeyError):
        ours.isel(lon=slice(0, 8, 2)).sel(lon=45.0)


def test_chunks_of_parts_are_those_of_the_file(both: Any) -> None:
    ours, theirs = both
    for key in ISEL:
        part = ours.isel(**key)
        joined = np.full(part.shape, np.nan)
        for where in part.iter_chunks():
            assert np.isnan(joined[where]).all(), "no element is in two chunks"
            joined[where] = part[where]
        assert np.array_equal(joined, theirs.isel(**key).values)
    starts = [key[0].start for key in ours.isel(time=slice(3, 12)).iter_chunks()]
    assert sorted(set(starts)) == [0, 2, 7]


def test_what_is_not_there_is_a_key_error(both: Any) -> None:
    ours, _ = both
    for wrong in [{"latitude": 0}, {"lat": 11.5}, {"lat": "north"}]:
        with pytest.raises(KeyError) as caught:
            ours.sel(**wrong)
        assert isinstance(caught.value, tetfile.NotFoundError)
    with pytest.raises(IndexError):
        ours.isel(lat=4)
    with pytest.raises(IndexError):
        ours.isel(lat=[0, 4])
    with pytest.raises(IndexError):
        ours.isel(lat=[[0, 1], [2, 3]])
    with pytest.raises(KeyError):
        ours.sel(lat=[0.0, 11.0])
    with pytest.raises(ValueError):
        ours.sel(method="pad", lat=3)


def test_texts_are_labels(tmp_path: Path) -> None:
    tables = np.arange(6.0).reshape(3, 2)
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out["city"] = np.array([b"Oslo", b"Rome", b"Lima"])
        out["x"] = tables
        out["x"].dims[0].label = "city"
        out["bare"] = tables
    with tetfile.open(tmp_path / "x.h5") as f:
        assert f["x"].dims is not None and f["x"].dims[0] == "city"
        assert np.array_equal(f["x"].sel(city="Rome")[...], tables[1])
        assert np.array_equal(f["x"].sel(city=slice("Rome", "Lima"))[...], tables[1:])
        assert list(f["x"].labels("city")) == ["Oslo", "Rome", "Lima"]
        with pytest.raises(KeyError, match="no labels"):
            f["bare"].labels(0)


def test_decoded_values_are_those_of_xarray(tmp_path: Path) -> None:
    path = tmp_path / "packed.nc"
    values = np.array([[1.5, np.nan, 2.25], [-3.0, 100.0, np.nan]])
    made = xarray.Dataset({"t": (("y", "x"), values, {"units": "K"})})
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 20.0, "_FillValue": np.int16(-32767)}
    made.to_netcdf(path, encoding={"t": packing})
    with xarray.open_dataset(path) as theirs, tetfile.open(path, decoded=True) as ours:
        wanted = theirs["t"]
        assert ours["t"].dtype == wanted.dtype
        assert np.array_equal(ours["t"][...], wanted.values, equal_nan=True)
        # Masked elements are skipped, as xarray does.
        assert np.isclose(ours["t"].mean(), float(wanted.mean()))
        assert np.isnan(ours["t"].mean(skipna=False))
        assert ours["t"].count() == 4
    with tetfile.open(path) as raw:
        assert raw["t"].dtype == np.int16
        assert raw["t"][0, 1] == -32767
        assert raw["t"].attrs["scale_factor"] == 0.01
