"""A dataset with axes of many kinds, and random selections of it: text, query document, and what xarray selects."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cftime
import numpy as np
import xarray

CALENDARS = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
UNITS = "hours since 1999-12-30 12:00"
DAY = "%Y-%m-%d"
DATES = ["%Y", "%Y-%m", DAY]

Select = Callable[[xarray.DataArray], xarray.DataArray]

# The extents of the axes; `bare` has no labels.
EXTENTS = {
    "time": 150, "months": 30, "lat": 19, "rise": 21, "lon": 24, "west": 18, "packed": 15, "level": 9,
    "mixed": 11, "twice": 12, "station": 7, "sorted": 6, "groups": 8, "bare": 5,
}  # fmt: skip
VARIABLES = {
    "globe": ("time", "lat", "lon", "bare"),
    "rows": ("months", "packed", "west"),
    "tangled": ("mixed", "twice", "rise"),
    "words": ("station", "groups", "sorted", "level"),
    "series": ("time",),
}


@dataclass(frozen=True)
class Entry:
    """What a selection asks of one axis: as text, in a query document (where that has words for it), and of xarray."""

    text: str
    document: dict[str, Any] | None
    select: Select


def hours(calendar: str) -> list[Any]:
    start = cftime.datetime(2000, 2, 27, calendar=calendar)
    return [start + datetime.timedelta(hours=6 * at) for at in range(EXTENTS["time"])]


def months(calendar: str) -> list[Any]:
    """The middle of months, as models write them."""
    every = [divmod(at, 12) for at in range(EXTENTS["months"])]
    return [cftime.datetime(1999 + year, month + 1, 16, 12, calendar=calendar) for year, month in every]


def labels(calendar: str) -> dict[str, Any]:
    """The labels of every axis, decoded."""
    return {
        "time": hours(calendar),
        "months": months(calendar),
        "lat": np.linspace(90, -90, 19).astype("f4"),
        "rise": np.cumsum(np.arange(21) % 4 + 0.25) - 11.5,
        "lon": np.arange(24) * 15.0,
        "west": np.arange(18) * 20 - 180,
        "packed": np.arange(15) * -2.5 + 20,
        "level": np.array([1000, 925, 850, 700, 500, 300, 250, 100, 10], "i4"),
        "mixed": np.array([7, -3, 12, 5, 0, 100, 2, -8, 41, 6, 3], "i2"),
        "twice": np.array([1, 1, 2, 3, 3, 3, 5, 8, 8, 9, 11, 11], "i8"),
        "station": ["Oslo", "St. John's", "b", "7", "Zürich", "a:b", "Bergen"],
        "sorted": ["alpha", "beta", "delta", "gamma", "omega", "zeta"],
        "groups": ["x", "y", "x", "z", "z", "y", "x", "w"],
    }


def world(calendar: str) -> xarray.Dataset:
    """The dataset as it is stored, but for text: numbers of times, packed coordinates."""
    known = labels(calendar)
    attrs = {"units": UNITS, "calendar": calendar}
    known["time"] = ("time", cftime.date2num(known["time"], UNITS, calendar=calendar), attrs)
    since = {"units": "days since 1999-01-01", "calendar": calendar}
    known["months"] = ("months", cftime.date2num(known["months"], since["units"], calendar=calendar).astype("f8"), since)
    known["lat"] = ("lat", known["lat"], {"units": "degrees_north"})
    known["lon"] = ("lon", known["lon"], {"units": "degrees_east"})
    known["west"] = ("west", known["west"], {"units": "degrees_east", "standard_name": "longitude"})
    packed = {"scale_factor": 0.5, "add_offset": 10.0, "_FillValue": np.int16(-32767)}
    known["packed"] = ("packed", np.round((known["packed"] - 10.0) / 0.5).astype("i2"), packed)
    arrays = {}
    for start, (name, dims) in enumerate(VARIABLES.items()):
        shape = [EXTENTS[dim] for dim in dims]
        arrays[name] = (dims, start * 10**6 + np.arange(np.prod(shape), dtype="i4").reshape(shape))
    return xarray.Dataset(arrays, known)


def dated(times: list[Any], calendar: str) -> Any:
    """The times in the type of their calendar, which xarray looks at."""
    return cftime.num2date(cftime.date2num(times, UNITS, calendar=calendar), UNITS, calendar=calendar, only_use_cftime_datetimes=True)


def located(calendar: str) -> xarray.Dataset:
    """The dataset with decoded labels; along each axis `DIM_at` are the positions, `DIM_turns` full turns of its labels."""
    known = labels(calendar)
    known |= {name: dated(known[name], calendar) for name in ("time", "months")}
    found = world(calendar).assign_coords({name: (name, values) for name, values in known.items()})
    for dim, extent in EXTENTS.items():
        found = found.assign_coords({f"{dim}_at": (dim, np.arange(extent))})
    return found


def entry(rng: random.Random, dim: str, calendar: str) -> Entry:
    """A random selection of an axis."""
    if dim == "bare" or rng.random() < 0.2:
        return positions(rng, dim)
    if dim in ("time", "months"):
        return times(rng, dim, calendar)
    if dim in ("lon", "west"):
        return longitudes(rng, dim)
    if dim in ("station", "sorted", "groups"):
        return words(rng, dim)
    return numbers(rng, dim)


def positions(rng: random.Random, dim: str) -> Entry:
    extent = EXTENTS[dim]
    sign = "#" if dim != "bare" else rng.choice("#=")
    if rng.random() < 0.3:
        at = rng.randrange(-extent, extent)
        return Entry(f"{dim}{sign}{at}", {"index": at}, lambda it: it.isel({dim: at}))
    if rng.random() < 0.3:
        some = [rng.randrange(-extent if sign == "#" else 0, extent) for _ in range(rng.randrange(1, 7))]
        return Entry(f"{dim}{sign}{some}", None, lambda it: it.isel({dim: some}))
    start, stop = sorted(rng.randrange(extent + 1) for _ in range(2))
    step = rng.choice([1, 1, 2, 5])
    text = f"{dim}{sign}{start}:{stop}" + (f":{step}" if step > 1 else "")
    document = {"start": start, "stop": stop, "step": step}
    return Entry(text, document, lambda it: it.isel({dim: slice(start, stop, step)}))


def numbers(rng: random.Random, dim: str) -> Entry:
    known = labels("standard")[dim]
    some = [known[rng.randrange(len(known))].item() for _ in range(rng.randrange(1, 5))]
    low, high = float(known.min()) - 3, float(known.max()) + 3
    near = [round(rng.uniform(low, high), 2) for _ in range(3)]
    kind = rng.choice(["label", "list", "near", "nears", "range", "range", "within"])
    if kind == "label":
        if dim == "twice" and (known == some[0]).sum() > 1:
            return Entry(f"{dim}=:{some[0]}", {"through_label": str(some[0])}, lambda it: it.sel({dim: slice(some[0])}))
        return Entry(f"{dim}={some[0]}", {"label": str(some[0])}, lambda it: it.sel({dim: some[0]}))
    if kind == "list":
        at = [position for label in some for position in np.flatnonzero(known == label)]
        return Entry(f"{dim}={some}", None, lambda it: it.isel({dim: at}))
    if kind in ("near", "within"):
        at = nearest(known, near[0])
        within = f" within {2 + abs(known[at] - near[0])}" if kind == "within" else ""
        return Entry(f"{dim}~{near[0]}{within}", {"nearest": str(near[0])}, lambda it: it.isel({dim: at}))
    if kind == "nears":
        return Entry(f"{dim}~{near}", None, lambda it: it.isel({dim: [nearest(known, label) for label in near]}))
    if dim == "mixed":
        return Entry(f"{dim}={some[0]}", {"label": str(some[0])}, lambda it: it.sel({dim: some[0]}))
    ends = sorted(rng.choice([near[:2], (some * 2)[:2], [near[0], some[0]]]))
    is_falling = known[-1] < known[0]
    asked = ends[::-1] if is_falling and rng.random() < 0.5 else ends
    step = rng.choice([1, 1, 3])
    text = f"{dim}={asked[0]}:{asked[1]}" + (f":{step}" if step > 1 else "")
    document = {"start_label": str(asked[0]), "through_label": str(asked[1]), "step": step}
    labeled = slice(*(ends[::-1] if is_falling else ends))
    return Entry(text, document, lambda it: it.sel({dim: labeled}).isel({dim: slice(None, None, step)}))


def nearest(known: Any, label: float) -> int:
    """The position of the nearest label, of two as near the greater one, the first that has it."""
    far = abs(known.astype("f8") - known.dtype.type(label) if known.dtype.kind == "f" else known - label)
    return int(np.flatnonzero(known == known[far == far.min()].max())[0])


def longitudes(rng: random.Random, dim: str) -> Entry:
    known = labels("standard")[dim]
    extent, first, step = len(known), int(known[0]), int(known[1] - known[0])

    def turned(ats: list[int]) -> Select:
        turns = [at // extent for at in ats]
        return lambda it: it.isel({dim: [at % extent for at in ats]}).assign_coords({f"{dim}_turns": (dim, turns)})

    kind = rng.choice(["label", "near", "list", "range", "range"])
    at = rng.randrange(-extent, 2 * extent)
    label = first + at * step
    if kind == "label":
        return Entry(f"{dim}={label}", {"label": str(label)}, lambda it: it.isel({dim: at % extent}))
    if kind == "near":
        label += rng.choice([-1, 0, 2])
        return Entry(f"{dim}~{label}", {"nearest": str(label)}, lambda it: it.isel({dim: at % extent}))
    if kind == "list":
        ats = [rng.randrange(extent) for _ in range(rng.randrange(1, 5))]
        return Entry(f"{dim}={[first + at * step for at in ats]}", None, lambda it: it.isel({dim: ats}))
    count, by = rng.randrange(extent), rng.choice([1, 1, 3])
    west, east = label - rng.choice([0, 1]), label + count * step + rng.choice([0, 1])
    text = f"{dim}={west}:{east}" + (f":{by}" if by > 1 else "")
    document = {"start_label": str(west), "through_label": str(east), "step": by}
    return Entry(text, document, turned(list(range(at, at + count + 1))[::by]))


def words(rng: random.Random, dim: str) -> Entry:
    known = labels("standard")[dim]
    one, two = sorted(rng.randrange(len(known)) for _ in range(2))
    quoted = [f'"{text}"' if not text.isalnum() or rng.random() < 0.3 else text for text in known]
    is_repeated = dim == "groups"
    kind = rng.choice(["label", "list", "range"])
    if kind == "list" or is_repeated:
        some = [rng.randrange(len(known)) for _ in range(rng.randrange(1, 5))]
        at = [position for of in some for position, text in enumerate(known) if text == known[of]]
        return Entry(f"{dim}=[{','.join(quoted[of] for of in some)}]", None, lambda it: it.isel({dim: at}))
    if kind == "label":
        return Entry(f"{dim}={quoted[one]}", {"label": known[one]}, lambda it: it.sel({dim: known[one]}))
    start, stop = known[one], known[two]
    if dim == "sorted" and rng.random() < 0.5:
        # Between labels, as of words in a dictionary.
        start, stop = sorted(rng.choice(["", "b", "c", "delta", "deltas", "m", "zz"]) + "a" for _ in range(2))
    text = ":".join(f'"{it}"' if not it.isalnum() else it for it in (start, stop))
    document = {"start_label": start, "through_label": stop}
    return Entry(f"{dim}={text}", document, lambda it: it.sel({dim: slice(start, stop)}))


def times(rng: random.Random, dim: str, calendar: str) -> Entry:
    known = labels(calendar)[dim]
    known = list(dated(known, calendar))
    one, two = (known[at] for at in sorted(rng.randrange(len(known)) for _ in range(2)))
    kind = rng.choice(["set", "set", "both", "moment", "date", "range", "moments", "list", "near"])
    if kind in ("set", "both"):
        return parts(rng, dim, is_ranged=kind == "both")
    if kind == "moment":
        text = one.strftime("%Y-%m-%dT%H:%M")
        return Entry(f"{dim}={text}", {"label": text}, lambda it: it.sel({dim: one}))
    if kind == "date":
        text = one.strftime(rng.choice(DATES))
        return Entry(f"{dim}={text}", {"label": text}, lambda it: it.sel({dim: slice(text, text)}))
    if kind == "range":
        first, last = one.strftime(DAY), two.strftime(rng.choice(["%Y-%m", DAY]))
        document = {"start_label": first, "through_label": last}
        return Entry(f"{dim}={first}:{last}", document, lambda it: it.sel({dim: slice(first, last)}))
    if kind == "moments":
        first, last = one.strftime("%Y-%m-%dT%H:%M"), two.strftime("%Y-%m-%dT%H")
        document = {"start_label": first, "through_label": last, "step": 2}
        ranged: Select = lambda it: it.sel({dim: slice(one, two)}).isel({dim: slice(None, None, 2)})  # noqa: E731
        return Entry(f"{dim}={first}:{last}:2", document, ranged)
    if kind == "list":
        some = [known[rng.randrange(len(known))].strftime(rng.choice(["%Y-%m", DAY])) for _ in range(3)]
        at = [at for text in some for at, label in enumerate(known) if label.strftime(DAY).startswith(text)]
        return Entry(f"{dim}=[{','.join(some)}]", None, lambda it: it.isel({dim: at}))
    near = one + datetime.timedelta(minutes=rng.randrange(-170, 170))
    at = min(range(len(known)), key=lambda at: abs(known[at] - near))
    text = near.strftime("%Y-%m-%dT%H:%M")
    return Entry(f"{dim}~{text}", {"nearest": text}, lambda it: it.isel({dim: at}))


def parts(rng: random.Random, dim: str, *, is_ranged: bool) -> Entry:
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
        start, count = rng.randrange(12), rng.choice([2, 3, 3, 5])
        part, text = "month", ("JFMAMJJASOND" * 2)[start : start + count]
        among = [(start + at) % 12 + 1 for at in range(count)]
    name = "season" if kind == "season" else part

    def select(it: xarray.DataArray) -> xarray.DataArray:
        of = (it[dim].dt.month + 2) // 3 if part == "quarter" else getattr(it[dim].dt, part)
        return it.isel({dim: np.isin(of, among)})

    if is_ranged:
        return Entry(f"{dim}=2000-03:2000, {dim}.{name}={text}", None, lambda it: select(it.sel({dim: slice("2000-03", "2000")})))
    return Entry(f"{dim}.{name}={text}", None, select)


@dataclass(frozen=True)
class Case:
    """A selection of a variable, and what xarray selects."""

    name: str
    text: str
    # The entries of a query document, where it has words for all of them.
    document: dict[str, Any] | None
    entries: list[Entry]
    wanted: xarray.DataArray

    def select(self, data: xarray.DataArray) -> xarray.DataArray:
        """What xarray selects of an array that has the labels of the case."""
        for each in self.entries:
            data = each.select(data)
        return data

    def labels(self, stored: xarray.Dataset) -> dict[str, Any]:
        """The labels of the axes that stay: numbers of times, unpacked numbers, longitudes with the turns that were asked for."""
        found = {}
        for dim in self.wanted.dims:
            if dim in stored.coords:
                known = labels("standard")[str(dim)] if dim == "packed" else stored[dim].values
                values = known[self.wanted[f"{dim}_at"].values]
                turns = self.wanted.coords.get(f"{dim}_turns")
                found[str(dim)] = values if turns is None else values + 360 * turns.values
        return found


def case(rng: random.Random, data: xarray.Dataset, calendar: str) -> Case:
    name = rng.choice([*VARIABLES, "globe"])
    dims = VARIABLES[name]
    chosen = [entry(rng, dim, calendar) for dim in rng.sample(dims, rng.randrange(1, len(dims) + 1))]
    document: dict[str, Any] | None = {}
    for each in chosen:
        document = None if document is None or each.document is None else document | {axis_of(each.text): each.document}
    text = ", ".join(each.text for each in chosen)
    case = Case(name, text, document, chosen, data[name])
    return replace(case, wanted=case.select(data[name]))


def axis_of(text: str) -> str:
    return text[: min(text.find(sign) for sign in "#=~." if sign in text)]
