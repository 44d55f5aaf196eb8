"""Selections as text: what they select is what xarray's `isel` and `sel` select."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cftime
import numpy as np
import pytest
import tetfile
import xarray

COUNT = 1000
UNITS = "hours since 1999-12-30 12:00"
CALENDARS = ["standard", "noleap", "360_day"]

Entry = tuple[str, Callable[[xarray.DataArray], xarray.DataArray]]


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


def bounds(rng: random.Random, extent: int) -> tuple[int, int]:
    one, two = sorted(rng.randrange(extent) for _ in range(2))
    return one, two


def positions(rng: random.Random, name: str, extent: int) -> Entry:
    sign = rng.choice(["#"]) if name != "x" else rng.choice(["#", "="])
    if rng.random() < 0.4:
        at = rng.randrange(-extent, extent)
        return f"{name}{sign}{at}", lambda it: it.isel({name: at})
    start, stop = bounds(rng, extent + 1)
    step = rng.choice([1, 1, 2, 5])
    text = f"{name}{sign}{start}:{stop}" + (f":{step}" if step > 1 else "")
    return text, lambda it: it.isel({name: slice(start, stop, step)})


def some(rng: random.Random, extent: int) -> list[int]:
    return [rng.randrange(extent) for _ in range(rng.randrange(1, 6))]


def lists(rng: random.Random, name: str, extent: int) -> Entry:
    at = some(rng, extent)
    return f"{name}#{at}", lambda it: it.isel({name: at})


def latitudes(rng: random.Random) -> Entry:
    kind = rng.random()
    if kind < 0.1:
        labels = [at * 10 - 90 for at in some(rng, 19)]
        return f"lat={labels}", lambda it: it.sel(lat=labels)
    if kind < 0.2:
        near = [round(rng.uniform(-90, 90), 2) for _ in range(3)]
        return f"lat~{near}", lambda it: it.sel(lat=near, method="nearest")
    if kind < 0.3:
        label = rng.randrange(-9, 10) * 10
        text = f"{label}" if rng.random() < 0.5 else f'"{label}.0"'
        return f"lat={text}", lambda it: it.sel(lat=label)
    if kind < 0.6:
        label = round(rng.uniform(-90, 90), 2)
        return f"lat~{label}", lambda it: it.sel(lat=label, method="nearest")
    low, high = sorted(round(rng.uniform(-95, 95), 1) for _ in range(2))
    ends = (low, high) if rng.random() < 0.5 else (high, low)
    return f"lat={ends[0]}:{ends[1]}", lambda it: it.sel(lat=slice(high, low))


def longitudes(rng: random.Random) -> Entry:
    kind = rng.random()
    if kind < 0.4:
        label = rng.randrange(-180, 540, 1)
        near = round(label / 15) * 15 % 360
        if label % 15 == 7 or label % 15 == 8:
            return "lon=0", lambda it: it.sel(lon=0)
        return f"lon~{label}", lambda it: it.sel(lon=near)
    if kind < 0.6:
        west, count = rng.randrange(-48, 48), rng.randrange(24)
        step = rng.choice([1, 1, 3])
        at = [at % 24 for at in range(west, west + count + 1)][::step]
        text = f"lon={west * 15}:{(west + count) * 15}" + (f":{step}" if step > 1 else "")
        return text, lambda it: it.isel(lon=at)
    west = rng.randrange(0, 24)
    east = rng.randrange(west, 24)
    turn = rng.choice([0, -360, 360])
    text = f"lon={west * 15 + turn}:{east * 15 + turn}"
    return text, lambda it: it.sel(lon=slice(west * 15, east * 15))


def times(rng: random.Random, calendar: str) -> Entry:
    when = hours(calendar, 130)
    one, two = (when[at] for at in bounds(rng, 130))
    kind = rng.random()
    if kind < 0.2:
        return dated(rng)
    if kind < 0.25:
        text = one.strftime("%Y-%m-%dT%H:%M")
        return f"time={text}", lambda it: it.sel(time=one)
    if kind < 0.5:
        text = one.strftime(rng.choice(["%Y", "%Y-%m", "%Y-%m-%d"]))
        return f"time={text}", lambda it: it.sel(time=slice(text, text))
    first, last = one.strftime("%Y-%m-%d"), two.strftime(rng.choice(["%Y-%m", "%Y-%m-%d"]))
    if kind < 0.75:
        return f"time={first}:{last}", lambda it: it.sel(time=slice(first, last))
    first, last = one.strftime("%Y-%m-%dT%H:%M"), two.strftime("%Y-%m-%dT%H")
    return f"time={first}:{last}:2", lambda it: it.sel(time=slice(one, two)).isel(time=slice(None, None, 2))


def dated(rng: random.Random) -> Entry:
    """A set of parts of dates, alone or in a range of dates."""
    part, low, high = rng.choice(
        [("month", 1, 12), ("day", 1, 31), ("hour", 0, 23), ("year", 1999, 2001), ("quarter", 1, 4), ("dayofyear", 50, 99)]
    )
    first, last = sorted(rng.randrange(low, high + 1) for _ in range(2))
    kind = rng.choice(["list", "brackets", "range", "around", "season"])
    among = [first, last] if kind in ("list", "brackets") else list(range(first, last + 1))
    text = {"list": f"{first},{last}", "brackets": f"[{first}, {last}]"}.get(kind, f"{first}:{last}")
    if kind == "around" and part in ("month", "hour", "day") and first < last:
        among = [*range(last, high + 1), *range(low, first + 1)]
        text = f"{last}:{first}"
    if kind == "season":
        part, text, among = "month", "DJF", [12, 1, 2]
    name = "season" if kind == "season" else part

    def select(it: xarray.DataArray) -> xarray.DataArray:
        of = (it["time"].dt.month + 2) // 3 if part == "quarter" else getattr(it["time"].dt, part)
        return it.isel(time=np.isin(of, among))

    if rng.random() < 0.3:
        return f"time=2000-03:2000, time.{name}={text}", lambda it: select(it.sel(time=slice("2000-03", "2000")))
    return f"time.{name}={text}", select


def check(file: tetfile.File, name: str, text: str, wanted: xarray.DataArray) -> None:
    found = file.query({"dataset": name, "selection": text})
    assert np.asarray(found).shape == wanted.shape, text
    assert np.array_equal(np.asarray(found), wanted.values), text
    part = file[name].select(text)
    assert part.shape == wanted.shape and np.array_equal(part[...], wanted.values), text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("calendar", CALENDARS)
def test_labels_and_positions_are_those_of_xarray(folder: Path, calendar: str) -> None:
    rng = random.Random(calendar)
    path = folder / f"{calendar}.nc"
    data = xarray.open_dataset(path, decode_times=xarray.coders.CFDatetimeCoder(use_cftime=True)).load()
    with tetfile.open(path) as file:
        for _ in range(COUNT):
            entries = [
                rng.choice([lambda: times(rng, calendar), lambda: positions(rng, "time", 130)])(),
                rng.choice([lambda: latitudes(rng), lambda: positions(rng, "lat", 19)])(),
                rng.choice([lambda: longitudes(rng), lambda: positions(rng, "lon", 24)])(),
                rng.choice([lambda: lists(rng, "x", 3), lambda: positions(rng, "x", 3)])(),
            ]
            chosen = rng.sample(entries, rng.randrange(1, 5))
            wanted = data["field"]
            for _, select in chosen:
                wanted = select(wanted)
            check(file, "field", ", ".join(text for text, _ in chosen), wanted)


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
        ("time=0:12", "time#0:10"),
        ("time=12", "time#0:10"),
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
