"""Selections as text: single cases, refusals and warnings; `test_selection_matrix.py` has random ones."""

from __future__ import annotations

import datetime
import pickle
from pathlib import Path
from typing import Any

import cftime
import numpy as np
import pytest
import tetfile
import xarray

UNITS = "hours since 1999-12-30 12:00"
CALENDARS = ["standard", "noleap"]


def hours(calendar: str, count: int) -> list[Any]:
    start = cftime.datetime(2000, 2, 27, calendar=calendar)
    return [start + datetime.timedelta(hours=6 * at) for at in range(count)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    for calendar in CALENDARS:
        shape = (130, 19, 24, 3)
        values = np.arange(np.prod(shape), dtype="int32").reshape(shape)
        field = xarray.DataArray(
            values,
            dims=("time", "lat", "lon", "x"),
            coords={
                "time": ("time", cftime.date2num(hours(calendar, shape[0]), UNITS, calendar=calendar)),
                "lat": ("lat", np.linspace(90, -90, 19).astype("f4"), {"units": "degrees_north"}),
                "lon": ("lon", np.arange(24) * 15.0, {"units": "degrees_east"}),
            },
        )
        stations = xarray.DataArray(
            np.arange(5 * 7, dtype="int64").reshape(5, 7),
            dims=("station", "level"),
            coords={
                "station": ["Oslo", "St. John's", "b", "7", "Zürich"],
                "level": ("level", np.array([1000, 925, 850, 700, 500, 250, 100]), {"units": "hPa"}),
            },
        )
        data = xarray.Dataset({"field": field, "stations": stations})
        # The latitudes are packed: a label is the value that they mean.
        packed = {"dtype": "int16", "scale_factor": 0.5, "add_offset": 10.0, "_FillValue": -32767}
        data["time"].attrs.update(units=UNITS, calendar=calendar)
        data.to_netcdf(folder / f"{calendar}.nc", encoding={"lat": packed})
    return folder


def check(file: tetfile.File, name: str, text: str, wanted: xarray.DataArray) -> None:
    found = file.query({"dataset": name, "selection": text})
    assert np.asarray(found).shape == wanted.shape, text
    assert np.array_equal(np.asarray(found), wanted.values), text
    part = file[name].select(text)
    assert part.shape == wanted.shape and np.array_equal(part[...], wanted.values), text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("station=Oslo", {"station": "Oslo"}),
        ("station=\"St. John's\"", {"station": "St. John's"}),
        ("station=7", {"station": "7"}),
        ("station=Zürich, level=850", {"station": "Zürich", "level": 850}),
        ("station=Oslo:b", {"station": slice("Oslo", "b")}),
        ("station=b:", {"station": slice("b", None)}),
        ("level=500:1000", {"level": slice(1000, 500)}),
        ("level=1000:500", {"level": slice(1000, 500)}),
        ("level=600:900", {"level": slice(900, 600)}),
        ("level=:500", {"level": slice(None, 500)}),
        ("level=500:", {"level": slice(500, None)}),
        ("level=[850,100,850]", {"level": [850, 100, 850]}),
        ("station=[b,Oslo]", {"station": ["b", "Oslo"]}),
        ("station=['7', \"St. John's\"], level~[840,90]", {"station": ["7", "St. John's"], "level": [850, 100]}),
    ],
)
def test_texts_and_levels_are_those_of_xarray(folder: Path, text: str, key: dict[str, Any]) -> None:
    path = folder / "standard.nc"
    with tetfile.open(path) as file, xarray.open_dataset(path, decode_times=False) as data:
        check(file, "stations", text, data["stations"].sel(key))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time=0:12", "time#0"),
        ("time=12", "time#12"),
        ("lat=5", "lat#5"),
        ("lat=45", '"40" and "50"'),
        ("lat~45 within 1", "no label within 1"),
        ("lat.month=6", "no times"),
        ("time.month=13", "from 1 to 12"),
        ("lat=[40, 41]", '"40"'),
        ("time=2001-13", "2001-13"),
        ("lat=5:x", "x"),
        ("lat#5.0", "positions"),
        ("x=Oslo", "no labels"),
    ],
)
def test_what_may_not_be_meant_is_refused_with_what_to_write(folder: Path, text: str, message: str) -> None:
    with tetfile.open(folder / "noleap.nc") as file:
        with pytest.raises(tetfile.TetError) as error:
            file.query({"dataset": "field", "selection": text})
        assert message in "\n".join([str(error.value), *getattr(error.value, "__notes__", [])])
        with pytest.raises(tetfile.TetError):
            file["field"].select(text)


def test_what_was_taken_for_granted_is_a_warning(folder: Path) -> None:
    with tetfile.open(folder / "noleap.nc") as file:
        with pytest.warns(UserWarning, match=r"lat~44: the nearest label is 40"):
            assert file["field"].select("lat~44").shape == (130, 24, 3)
        with pytest.warns(UserWarning, match=r"the longitudes are 330 to 345"):
            assert file["field"].select("lon=-30:-15").shape == (130, 19, 2, 3)
        with pytest.warns(UserWarning, match=r"the selection is empty along axis 1"):
            assert file["field"].select("lat=1:2").shape == (130, 0, 24, 3)
        with pytest.raises(ValueError, match="whole dataset"):
            file["field"].isel(time=0).select("lat=40")


@pytest.mark.filterwarnings("ignore")
def test_turned_longitudes_have_the_labels_that_were_asked_for(folder: Path) -> None:
    with tetfile.open(folder / "noleap.nc") as file:
        part = file["field"].select("lon=-30:30, time#0, x#0")
        assert part.coords["lon"].tolist() == [-30, -15, 0, 15, 30]
        assert part.to_xarray()["lon"].values.tolist() == [-30, -15, 0, 15, 30]
        assert part.isel(lon=[4, 0]).coords["lon"].tolist() == [30, -30]
        assert part.isel(lon=slice(1, None, 2)).coords["lon"].tolist() == [-15, 15]
        assert (part.sel(lon=-15)[...] == file["field"].sel(lon=345.0).isel(time=0, x=0)[...]).all()
        assert part.reduce("max", dim="lat").labels["lon"].tolist() == [-30, -15, 0, 15, 30]
        assert pickle.loads(pickle.dumps(part)).coords["lon"].tolist() == [-30, -15, 0, 15, 30]
        west = file["field"].select("lon=-30:-15")
        assert west.coords["lon"].tolist() == [-30, -15]
        answer = file.query({"dataset": "field", "selection": "lon=350:380", "mean": ["time", "lat", "x"]})
        assert answer.labels["lon"].tolist() == [360, 375]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("b:d", ["beta"]),
        ("beta:d", ["beta"]),
        ("b:delta", ["beta", "delta"]),
        ("zz:zzz", []),
        (":c", ["alpha", "beta"]),
        ("d:", ["delta", "gamma"]),
    ],
)
def test_texts_in_order_are_ranges_between_labels(tmp_path: Path, text: str, labels: list[str]) -> None:
    names = ["alpha", "beta", "delta", "gamma"]
    data = xarray.Dataset({"v": ("name", np.arange(4))}, {"name": names})
    data.to_netcdf(tmp_path / "a.nc")
    start, _, stop = text.partition(":")
    wanted = data["v"].sel(name=slice(start or None, stop or None))
    assert wanted["name"].values.tolist() == labels
    for suffix in ("nc", "tet"):
        if suffix == "tet":
            tetfile.convert(tmp_path / "a.nc", tmp_path / "a.tet")
        with tetfile.open(tmp_path / f"a.{suffix}") as file:
            assert file["v"].select(f"name={text}")[...].tolist() == wanted.values.tolist()
    data.isel(name=[2, 0, 1, 3]).to_netcdf(tmp_path / "b.nc")
    with tetfile.open(tmp_path / "b.nc") as file, pytest.raises(tetfile.TetError, match="no label"):
        file["v"].select("name=b:d")
