"""The engine of xarray gives what xarray's own engines give."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import h5py
import numpy as np
import pandas
import pytest
import tetfile
import xarray


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A year of days with packed and missing values, times, texts, a scalar and coordinates of two axes."""
    random = np.random.default_rng(4)
    values = random.normal(280, 10, (366, 6, 9))
    values[random.random(values.shape) < 0.1] = np.nan
    made = xarray.Dataset(
        {
            "temp": (("time", "lat", "lon"), values, {"units": "K", "cell_methods": "time: mean"}),
            "rain": (("time", "lat", "lon"), random.random((366, 6, 9)).astype("f4")),
            "station": (("lat",), np.array(["a", "bc", "d", "e", "f", "g"], dtype=object)),
            "crs": ((), np.int32(7), {"grid_mapping_name": "latitude_longitude"}),
        },
        coords={
            "time": pandas.date_range("2024-01-01", periods=366),
            "lat": np.linspace(-50, 50, 6),
            "lon": np.linspace(0, 320, 9),
            "area": (("lat", "lon"), random.random((6, 9))),
        },
        attrs={"title": "days", "version": np.int32(3)},
    )
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": np.int16(-32767)}
    chunks = {"chunksizes": (31, 3, 9), "zlib": True}
    path = tmp_path_factory.mktemp("xarray") / "days.nc"
    made.to_netcdf(path, engine="netcdf4", encoding={"temp": packing | chunks, "rain": chunks})
    return path


@pytest.fixture
def both(path: Path) -> Any:
    with xarray.open_dataset(path, engine="tet") as ours, xarray.open_dataset(path, engine="netcdf4") as theirs:
        yield ours, theirs


def test_datasets_are_those_of_netcdf4(both: Any) -> None:
    ours, theirs = both
    xarray.testing.assert_identical(ours, theirs)
    assert list(ours.coords) == list(theirs.coords)
    for name in theirs.variables:
        # Texts are objects here, also those that the file has of one length.
        assert ours[name].dtype == theirs[name].dtype or name == "station", name
        assert ours[name].encoding.get("chunksizes") or name not in ("temp", "rain")


def test_undecoded_datasets_are_those_of_netcdf4(path: Path) -> None:
    with xarray.open_dataset(path, engine="tet", decode_cf=False) as ours:
        with xarray.open_dataset(path, engine="netcdf4", decode_cf=False) as theirs:
            assert ours["temp"].dtype == np.int16
            for name in theirs.variables:
                assert np.array_equal(ours[name].values, theirs[name].values), name
                assert set(ours[name].attrs) == set(theirs[name].attrs), name


WORK: dict[str, Callable[[xarray.Dataset], Any]] = {
    "mean": lambda ds: ds["temp"].mean(),
    "mean along": lambda ds: ds["temp"].mean("time"),
    "by month": lambda ds: ds["temp"].groupby("time.month").mean(),
    "resampled": lambda ds: ds["rain"].resample(time="10D").max(),
    "nearest": lambda ds: ds["temp"].sel(lat=7.0, method="nearest"),
    "range": lambda ds: ds["temp"].sel(time=slice("2024-02-10", "2024-03-05"), lat=slice(-30, 30)),
    "date": lambda ds: ds["rain"].sel(time="2024-05"),
    "outer": lambda ds: ds["temp"].isel(time=[5, 3, 3, -1], lat=[0, 4], lon=slice(None, None, -2)),
    "points": lambda ds: ds["temp"].isel(lat=xarray.DataArray([0, 2, 5], dims="p"), lon=xarray.DataArray([8, 1, 1], dims="p")),
    "reversed": lambda ds: ds["rain"].isel(time=slice(None, None, -30)),
    "mask": lambda ds: ds["rain"].isel(lon=np.arange(9) % 2 == 0),
    "one": lambda ds: ds["temp"].isel(time=3, lat=2, lon=1),
    "none": lambda ds: ds["temp"].isel(time=slice(5, 5)),
    "text": lambda ds: ds["station"].isel(lat=[3, 0]),
    "weighted": lambda ds: ds["rain"].weighted(ds["area"]).mean(("lat", "lon")),
    "rolling": lambda ds: ds["rain"].rolling(time=7).mean().isel(time=slice(6, 20)),
}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("chunks", [None, {}, {"time": 62}], ids=["numpy", "dask", "dask 62"])
def test_work_on_datasets_gives_what_netcdf4_gives(name: str, chunks: Any, path: Path) -> None:
    work = WORK[name]
    with xarray.open_dataset(path, engine="tet", chunks=chunks) as ours:
        with xarray.open_dataset(path, engine="netcdf4") as theirs:
            found, wanted = work(ours).compute(), work(theirs).compute()
    if chunks is None:
        xarray.testing.assert_identical(found, wanted)
    else:
        xarray.testing.assert_allclose(found, wanted)


def test_a_copy_is_compressed_as_the_file_is(path: Path, tmp_path: Path) -> None:
    sizes = {}
    for engine in ("tet", "netcdf4"):
        with xarray.open_dataset(path, engine=engine) as found:
            assert found["rain"].encoding["zlib"] and found["rain"].encoding["shuffle"]
            found.to_netcdf(tmp_path / f"{engine}.nc", engine="netcdf4")
        sizes[engine] = (tmp_path / f"{engine}.nc").stat().st_size
    assert sizes["tet"] < 1.02 * sizes["netcdf4"]
    with xarray.open_dataset(path, engine="tet") as found, xarray.open_dataset(tmp_path / "tet.nc", engine="netcdf4") as copy:
        xarray.testing.assert_identical(found, copy)


def test_chunks_are_those_of_the_file(path: Path) -> None:
    with xarray.open_dataset(path, engine="tet", chunks={}) as found:
        assert found["rain"].chunks == ((31,) * 11 + (25,), (3, 3), (9,))


def test_nothing_is_read_before_it_is_needed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with xarray.open_dataset(path, engine="tet") as found:
        reads: list[str] = []
        get = tetfile.Dataset.__getitem__
        monkeypatch.setattr(tetfile.Dataset, "__getitem__", lambda d, key: reads.append(d.name) or get(d, key))
        part = found["temp"].isel(time=slice(0, 10)).isel(lat=0)
        assert reads == []
        part.load()
        assert reads.count("temp") == 1 and "rain" not in reads


def test_datasets_are_pickled(path: Path) -> None:
    with xarray.open_dataset(path, engine="tet", chunks={}) as found:
        again = pickle.loads(pickle.dumps(found))
        xarray.testing.assert_identical(again.load(), found.load())
    with xarray.open_dataset(path, engine="tet") as found:
        again = pickle.loads(pickle.dumps(found["temp"].isel(time=0)))
        xarray.testing.assert_identical(again, found["temp"].isel(time=0))


def test_tokens_of_graphs_are_stable(path: Path) -> None:
    def graph() -> Any:
        return xarray.open_dataset(path, engine="tet", chunks={})["rain"].data.name

    assert graph() == graph()


@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
def test_schedulers_of_dask_agree(scheduler: str, path: Path) -> None:
    with xarray.open_dataset(path, engine="tet", chunks={}) as ours, xarray.open_dataset(path, engine="netcdf4") as theirs:
        with dask.config.set(scheduler=scheduler, num_workers=2):
            found = ours["rain"].mean("time").compute()
    xarray.testing.assert_allclose(found, theirs["rain"].mean("time"))


def test_many_files_are_one_dataset(tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        part = xarray.Dataset({"x": (("time", "y"), np.arange(8.0).reshape(2, 4) + number)}, {"time": [2 * number, 2 * number + 1]})
        paths.append(tmp_path / f"{number}.nc")
        part.to_netcdf(paths[-1])
    with xarray.open_mfdataset(paths, engine="tet") as ours, xarray.open_mfdataset(paths, engine="netcdf4") as theirs:
        xarray.testing.assert_identical(ours.load(), theirs.load())


def test_the_same_from_other_containers(path: Path, tmp_path: Path) -> None:
    with xarray.open_dataset(path, engine="netcdf4") as theirs:
        wanted = theirs["rain"].load()
        for suffix in ("tet", "zarr", "h5"):
            copy = tmp_path / f"days.{suffix}"
            tetfile.convert(path, copy, exclude=["station"])
            with xarray.open_dataset(copy, engine="tet") as found:
                assert np.array_equal(found["rain"].values, wanted.values), suffix
                assert np.array_equal(found["time"].values, wanted["time"].values), suffix
                assert np.allclose(found["temp"].values, theirs["temp"].values, equal_nan=True), suffix
        assert xarray.open_dataset(tmp_path / "days.tet")["rain"].dims == ("time", "lat", "lon")


def test_groups_are_opened(files: Path) -> None:
    path = files / "groups.h5"
    with xarray.open_dataset(path, engine="tet") as root:
        assert list(root.variables) == ["plain"] and root["plain"].dims == ("phony_dim_3",)
    with xarray.open_dataset(path, engine="tet", group="/ocean") as ocean:
        assert ocean.attrs == {"source": "buoys"} and ocean["temp"].dims == ("phony_dim_1", "phony_dim_2")
    with pytest.raises(KeyError):
        xarray.open_dataset(path, engine="tet", group="nothing")
    with xarray.open_datatree(path, engine="tet") as tree:
        assert sorted(tree.groups) == ["/", "/ocean", "/ocean/deep"]
        assert np.array_equal(tree["ocean/deep/salt"].values, [35.0, 35.1, 35.2])
    groups = xarray.open_groups(path, engine="tet")
    assert set(groups) == {"/", "/ocean", "/ocean/deep"}


def test_what_cannot_be_read_is_left_out_with_a_warning(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out["sound"] = np.arange(3)
        out["parts"] = np.zeros(3, dtype=[("a", "i4"), ("b", "f8")])
    with pytest.warns(UserWarning, match="'parts' is left out"):
        found = xarray.open_dataset(tmp_path / "x.h5", engine="tet")
    assert list(found.variables) == ["sound"]


def test_files_are_closed(path: Path) -> None:
    found = xarray.open_dataset(path, engine="tet")
    found.close()
    with pytest.raises(ValueError, match="closed"):
        found["rain"].load()
