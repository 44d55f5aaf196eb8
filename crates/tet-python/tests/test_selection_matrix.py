"""Random selections, by text, by query document and by the engine of xarray, of every container: elements and labels are
those of xarray.

`TET_SELECTIONS=10000 TET_SEED=1 pytest tests/test_selection_matrix.py` makes so many of each calendar.
"""

from __future__ import annotations

import contextlib
import os
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import selections
import tetfile
import xarray

COUNT = int(os.environ.get("TET_SELECTIONS", "200"))
SEED = os.environ.get("TET_SEED", "1")
# The containers that xarray writes, and those that are converted.
CONVERTED = ["h5", "zarr.zip", "tet", "tets", "zt", "tgm", "nc3"]
SUFFIXES = ["nc", "classic.nc", "v2.zarr", "v3.zarr", *CONVERTED]


@pytest.fixture(scope="module", params=selections.CALENDARS)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    calendar = request.param
    folder: Path = tmp_path_factory.mktemp(calendar)
    data = selections.world(calendar)
    chunks = {name: {"chunksizes": tuple(1 + extent // 3 for extent in data[name].shape)} for name in data.data_vars}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data.to_netcdf(folder / "a.nc", encoding=chunks)
        data.to_netcdf(folder / "a.classic.nc", format="NETCDF3_64BIT")
        for version in (2, 3):
            data.to_zarr(folder / f"a.v{version}.zarr", zarr_format=version)
        for suffix in CONVERTED:
            tetfile.convert(folder / "a.nc", folder / f"a.{suffix}")
    opened = {suffix: tetfile.open(folder / f"a.{suffix}") for suffix in SUFFIXES}
    yield calendar, opened
    for file in opened.values():
        file.close()


def check_labels(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for dim, labels in wanted.items():
        if not np.array_equal(np.asarray(found[dim]), labels):
            raise AssertionError(f"labels of {dim}: {found[dim]}, not {labels}")


def check(file: tetfile.File, case: selections.Case, stored: xarray.Dataset, *, is_document: bool) -> None:
    labels = case.labels(stored)
    part = file[case.name].select(case.text)
    assert part.dims == case.wanted.dims
    assert part.shape == case.wanted.shape
    assert np.array_equal(part[...], case.wanted.values)
    check_labels(part.coords, labels)
    document: dict[str, Any] = {"dataset": case.name, "selection": case.text}
    if case.document is not None and is_document:
        document["selection"] = case.document
    answer = file.query(document)
    assert np.array_equal(np.asarray(answer), case.wanted.values), document
    check_labels(answer.labels, labels)
    total = file.query(document | {"sum": []})
    assert total.values == (case.wanted.values.sum(dtype="i8") if case.wanted.size else 0), document


@pytest.mark.filterwarnings("ignore")
def test_every_container_selects_as_xarray(files: tuple[str, Any]) -> None:
    calendar, opened = files
    rng = random.Random(f"{SEED} {calendar}")
    stored, located = selections.world(calendar), selections.located(calendar)
    wrong = []
    for _ in range(COUNT):
        case = selections.case(rng, located, calendar)
        suffix = rng.choice(SUFFIXES)
        try:
            check(opened[suffix], case, stored, is_document=rng.random() < 0.5)
        except (AssertionError, tetfile.TetError, ValueError) as error:
            wrong.append(f"{suffix} {case.name}[{case.text}]: {' '.join(str(error).split())}")
    assert not wrong, "\n".join([f"{len(wrong)} of {COUNT}", *wrong[:20]])


@pytest.mark.filterwarnings("ignore")
def test_the_engine_selects_as_that_of_netcdf(files: tuple[str, Any]) -> None:
    calendar, opened = files
    rng = random.Random(f"{SEED} {calendar} engine")
    located = selections.located(calendar)
    how: dict[str, Any] = {"decode_times": xarray.coders.CFDatetimeCoder(use_cftime=True)}
    wrong = []
    with contextlib.ExitStack() as stack:
        theirs = stack.enter_context(xarray.open_dataset(opened["nc"].path, engine="netcdf4", **how))
        ours = {
            suffix: stack.enter_context(xarray.open_dataset(file.path, engine="tet", **how)) for suffix, file in opened.items()
        }
        for _ in range(COUNT):
            case, suffix = selections.case(rng, located, calendar), rng.choice(SUFFIXES)
            found, wanted = (case.select(of[case.name]) for of in (ours[suffix], theirs))
            if not (np.array_equal(found.values, case.wanted.values) and found.equals(wanted)):
                wrong.append(f"{suffix} {case.name}[{case.text}]: {found}, not {wanted}")
    assert not wrong, "\n".join([f"{len(wrong)} of {COUNT}", *wrong[:20]])
