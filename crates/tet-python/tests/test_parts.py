"""Files that several processes write, and files that grow."""

from __future__ import annotations

import os
import pickle
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import dask
import dask.array
import numpy as np
import pandas as pd
import pytest
import tetfile
import tetfile.xarray
import xarray
from children import SPAWN, working


def weather(days: int = 10) -> xarray.Dataset:
    rng = np.random.default_rng(3)
    temp = rng.random((days, 4, 6)).astype("f4")
    temp[1, 2, 3] = np.nan
    dataset = xarray.Dataset(
        {
            "temp": (("time", "lat", "lon"), temp, {"units": "K"}),
            "flag": ("lat", [True, False, True, False]),
            "count": ((), 3),
            "packed": (("time", "lat"), rng.random((days, 4)).round(2)),
        },
        coords={
            "time": pd.date_range("2024-01-01", periods=days),
            "lat": np.linspace(-30, 30, 4),
            "lon": np.arange(6) * 60.0,
            "area": ("lat", [1.0, 2.0, np.nan, 3.0]),
            "name": ("lon", list("abcdef")),
        },
        attrs={"title": "weather"},
    ).drop_vars("name")
    dataset["packed"].encoding = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 0.0, "_FillValue": -1}
    return dataset


def opened(path: Path) -> xarray.Dataset:
    with xarray.open_dataset(path, engine="tet") as found:
        return found.load()


def write_part(plan: tetfile.WritePlan, at: int) -> None:
    with plan.part() as part:
        part["x"][at : at + 10] = np.arange(at, at + 10)


def die_in_part(plan: tetfile.WritePlan) -> None:
    part = plan.part()
    part["x"][:10] = 0
    os._exit(1)


def begun(path: Path, **how: Any) -> tetfile.WritePlan:
    return tetfile.plan(path, {"x": tetfile.Spec((100,), "i8", chunks=(10,))}, **how)


def test_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    plan = begun(path, codec="zstd")
    with SPAWN.Pool(2) as pool:
        pool.starmap(write_part, [(pickle.loads(pickle.dumps(plan)), at) for at in range(0, 100, 10)])
    assert len(plan.parts()) == 10 and not path.exists()
    plan.publish()
    assert os.listdir(tmp_path) == ["x.tet"]
    np.testing.assert_array_equal(tetfile.open(path)["x"][...], np.arange(100))
    assert tetfile.verify(path).ok


def test_a_worker_that_dies_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    tetfile.create(path, {"x": np.ones(3)}).commit()
    before = path.read_bytes()
    plan = begun(path, overwrite=True)
    for at in range(10, 100, 10):
        write_part(plan, at)
    with working(die_in_part, plan) as child:
        child.join(60)
    with pytest.raises(tetfile.UsageError, match=r'^1 chunk is not written: \[0\] of "x"$'):
        plan.publish()
    assert path.read_bytes() == before
    # Another process goes on with the plan.
    write_part(tetfile.WritePlan.of(path), 0)
    plan.publish()
    np.testing.assert_array_equal(tetfile.open(path)["x"][...], np.arange(100))
    assert os.listdir(tmp_path) == ["x.tet"]


def test_parts_that_disagree_are_refused(tmp_path: Path) -> None:
    plan = begun(tmp_path / "x.tet")
    for at in range(0, 100, 10):
        write_part(plan, at)
    write_part(plan, 50)
    with plan.part() as part:
        part["x"][40:50] = 0
    with pytest.raises(tetfile.UsageError, match=r'chunk \[4\] of "x" is in .*\.part'):
        plan.publish()


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    plan = begun(tmp_path / "x.tet")
    for at in range(0, 100, 10):
        write_part(plan, at)
    part = Path(plan.parts()[3])
    sound = part.read_bytes()
    for at in range(0, len(sound), 3):
        part.write_bytes(sound[:at] + bytes([sound[at] ^ 8]) + sound[at + 1 :])
        try:
            plan.publish()
        except tetfile.DamagedError as error:
            assert error.path == str(part)
        else:
            # A byte that means nothing.
            plan = begun(tmp_path / "x.tet", overwrite=True)
            for start in range(0, 100, 10):
                write_part(plan, start)
            part = Path(plan.parts()[3])
            sound = part.read_bytes()
    part.write_bytes(sound[:-1])
    with pytest.raises(tetfile.DamagedError, match="is not complete"):
        plan.publish()


def test_one_plan_of_a_file_at_a_time(tmp_path: Path) -> None:
    plan = begun(tmp_path / "x.tet")
    with pytest.raises(FileExistsError, match="A plan of the file exists"):
        begun(tmp_path / "x.tet")
    plan.discard()
    with pytest.raises(FileNotFoundError):
        tetfile.WritePlan.of(tmp_path / "x.tet")


@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
def test_datasets_of_dask_are_written(tmp_path: Path, scheduler: str) -> None:
    dataset = weather()
    with dask.config.set(scheduler=scheduler, num_workers=2):
        dataset.chunk(time=3, lat=2).tet.to_tet(tmp_path / "x.tet", codec="zstd")
    xarray.testing.assert_identical(opened(tmp_path / "x.tet"), roundtrip(dataset, tmp_path))
    assert tetfile.open(tmp_path / "x.tet")["temp"].chunks == (3, 2, 6)
    assert tetfile.verify(tmp_path / "x.tet").ok
    assert not (tmp_path / "x.tet.parts").exists()


def roundtrip(dataset: xarray.Dataset, folder: Path) -> xarray.Dataset:
    """What xarray itself makes of the dataset."""
    dataset.to_netcdf(folder / "oracle.nc")
    with xarray.open_dataset(folder / "oracle.nc") as found:
        return found.load()


def test_datasets_of_numpy_are_written(tmp_path: Path) -> None:
    dataset = weather()
    dataset.tet.to_tet(tmp_path / "x.tet")
    xarray.testing.assert_identical(opened(tmp_path / "x.tet"), roundtrip(dataset, tmp_path))
    with pytest.raises(FileExistsError):
        dataset.tet.to_tet(tmp_path / "x.tet")
    texts = dataset.assign_coords(lon=list("abcdef"))
    texts.tet.to_tet(tmp_path / "texts.tet")
    assert list(opened(tmp_path / "texts.tet")["lon"].values) == list("abcdef")
    with pytest.raises(tetfile.UsageError, match="'words' has texts"):
        dataset.assign(words=("lat", list("abcd"))).tet.to_tet(tmp_path / "no.tet")
    assert not (tmp_path / "no.tet").exists()


def test_a_cluster_of_processes_writes(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    dataset = weather(40)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        dataset.chunk(time=7).tet.to_tet(tmp_path / "x.tet", codec="zstd")
        later = dataset.chunk(time=7).tet.to_tet(tmp_path / "y.tet", compute=False)
        assert not (tmp_path / "y.tet").exists()
        later.compute()
        lazy = xarray.open_dataset(tmp_path / "x.tet", engine="tet", chunks={})
        mean = lazy["temp"].mean("time").compute()
    wanted = roundtrip(dataset, tmp_path)
    xarray.testing.assert_identical(opened(tmp_path / "x.tet"), wanted)
    xarray.testing.assert_identical(opened(tmp_path / "y.tet"), wanted)
    xarray.testing.assert_allclose(mean, wanted["temp"].mean("time"))


def die(block: Any) -> Any:
    raise RuntimeError("this block fails")


def test_a_task_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    weather().tet.to_tet(tmp_path / "x.tet")
    before = (tmp_path / "x.tet").read_bytes()
    broken = weather().chunk(time=3)
    broken["temp"] = broken["temp"].copy(data=broken["temp"].data.map_blocks(die, dtype="f4"))
    with pytest.raises(RuntimeError, match="this block fails"):
        broken.tet.to_tet(tmp_path / "x.tet", overwrite=True)
    assert (tmp_path / "x.tet").read_bytes() == before
    assert os.listdir(tmp_path) == ["x.tet"]


def test_irregular_blocks_are_written(tmp_path: Path) -> None:
    array = np.arange(100.0).reshape(20, 5)
    for chunks in [((3, 9, 8), (5,)), ((20,), (2, 3)), ((1, 19), (5,)), ((10, 10), (5,))]:
        data = xarray.Dataset({"x": (("a", "b"), dask.array.from_array(array, chunks=chunks))})
        data.tet.to_tet(tmp_path / "x.tet", overwrite=True)
        np.testing.assert_array_equal(opened(tmp_path / "x.tet")["x"], array)


@pytest.mark.parametrize("codec", ["raw", "zstd"])
@pytest.mark.parametrize("is_dask", [False, True])
def test_files_grow(tmp_path: Path, codec: Any, is_dask: bool) -> None:
    """By pieces of 1 to 5 days, against chunks of 4."""
    whole = weather(30)
    for name in ("temp", "packed", "time"):
        whole[name].encoding |= {"chunks": (4, *whole[name].shape[1:])}
    whole["time"].encoding |= {"units": "hours since 2024-01-01", "dtype": "int64"}
    path = tmp_path / "x.tet"
    at = 4
    whole.isel(time=slice(0, at)).tet.to_tet(path, codec=codec)
    for count in (1, 2, 3, 4, 5, 5, 5, 1):
        piece = whole.isel(time=slice(at, at + count))
        (piece.chunk(time=2) if is_dask else piece).tet.to_tet(path, append_dim="time")
        at += count
        xarray.testing.assert_equal(opened(path), roundtrip(whole.isel(time=slice(0, at)), tmp_path))
        assert tetfile.verify(path).ok
    assert at == 30
    assert tetfile.open(path)["temp"].chunks == (4, 4, 6)
    once = tmp_path / "once.tet"
    whole.tet.to_tet(once, codec=codec)
    assert abs(os.path.getsize(once) - os.path.getsize(path)) < 2000


def test_pieces_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    whole = weather(6)
    path = tmp_path / "x.tet"
    whole.isel(time=slice(0, 3)).tet.to_tet(path)
    before = path.read_bytes()
    piece = whole.isel(time=slice(3, 6))
    for wrong, message in [
        (piece.drop_vars("packed"), "'packed' of the file has the dimension 'time', and is not appended"),
        (piece.assign(more=("time", [1, 2, 3])), "the file has no dataset 'more'"),
        (piece.isel(lat=slice(0, 2)).drop_vars(["flag", "area", "lat"]), "'temp' has shape"),
        (piece.assign(count=4), "'count' does not have the dimension 'time', and differs from that of the file"),
        (piece.transpose("lat", ...), "'temp' has dimensions"),
    ]:
        with pytest.raises(tetfile.UsageError, match=message):
            wrong.tet.to_tet(path, append_dim="time")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.tet"]
    piece.tet.to_tet(path, append_dim="time")


@pytest.mark.parametrize("is_dask", [False, True])
def test_regions_of_files_are_replaced(tmp_path: Path, is_dask: bool) -> None:
    whole = weather(12)
    path = tmp_path / "x.tet"
    whole.tet.to_tet(path)
    wanted = opened(path)
    piece = whole[["temp"]].isel(time=slice(5, 8), lon=slice(1, 3)).drop_vars(["lat", "area", "time", "lon"]) + 1
    piece = piece.chunk(time=1) if is_dask else piece
    piece.tet.to_tet(path, region={"time": slice(5, 8), "lon": slice(1, 3)})
    wanted["temp"][5:8, :, 1:3] += 1
    xarray.testing.assert_equal(opened(path), wanted)
    with pytest.raises(tetfile.UsageError, match="'temp' has 3 positions along 'time', and the region of 12 has 2"):
        piece.tet.to_tet(path, region={"time": slice(5, 7), "lon": slice(1, 3)})
    with pytest.raises(tetfile.UsageError, match="leave it out with drop_vars"):
        whole[["flag"]].tet.to_tet(path, region={"time": slice(0, 1)})


def test_a_file_that_is_planned_is_not_there_yet(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    whole = xarray.Dataset({"v": (("t", "x"), dask.array.zeros((4, 3), chunks=(2, 3)))})
    piece = xarray.Dataset({"v": (("t", "x"), np.ones((2, 3)))})
    region = {"t": slice(1, 3)}
    later = whole.tet.to_tet(path, compute=False)
    delayed = piece.tet.to_tet(path, region=region, compute=False)
    for use in (
        lambda: tetfile.open(path),
        lambda: piece.tet.to_tet(path, region=region),
        lambda: piece.tet.to_tet(path, append_dim="t"),
        lambda: tetfile.append(path, {"v": np.ones((1, 3))}),
        delayed.compute,
    ):
        with pytest.raises(FileNotFoundError, match=r"planned and not written yet: compute what .*WritePlan.of\(path\)") as caught:
            use()
        assert caught.value.filename == str(path)
    later.compute()
    delayed.compute()
    assert opened(path)["v"].values.sum(axis=1).tolist() == [0, 3, 3, 0]
    with pytest.raises(FileNotFoundError, match="published already, or discarded"):
        later.compute()
    # Regions that are written at the same time are all there.
    pieces = [xarray.Dataset({"v": (("t", "x"), np.full((1, 3), at))}) for at in range(4)]
    dask.compute(*[each.tet.to_tet(path, region={"t": slice(at, at + 1)}, compute=False) for at, each in enumerate(pieces)])
    assert opened(path)["v"].values[:, 0].tolist() == [0, 1, 2, 3]


def append(path: str, value: float) -> None:
    xarray.Dataset({"x": ("t", [value])}).tet.to_tet(path, append_dim="t")


def test_processes_that_append_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    xarray.Dataset({"x": ("t", [0.0])}).tet.to_tet(path)
    with SPAWN.Pool(4) as pool:
        pool.starmap(append, [(str(path), float(value)) for value in range(1, 41)])
    assert sorted(opened(path)["x"].values) == [float(value) for value in range(41)]


def test_ray_writes_parts(tmp_path: Path) -> None:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        plan = begun(tmp_path / "x.tet")

        @ray.remote
        def task(plan: tetfile.WritePlan, at: int) -> None:
            with plan.part() as part:
                part["x"][at : at + 10] = np.arange(at, at + 10)

        ray.get([task.remote(plan, at) for at in range(0, 100, 10)])
        plan.publish()
    finally:
        ray.shutdown()
    np.testing.assert_array_equal(tetfile.open(tmp_path / "x.tet")["x"][...], np.arange(100))


def test_arrays_of_numpy_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    wanted = np.arange(70.0).reshape(2, 35)
    with tetfile.create(path, codec="zstd") as out:
        out["a"] = tetfile.Spec((2, 3), "f8", chunks=(1, 4), dims=("y", "x"))
        out["a"][...] = wanted[:, :3]
        out["x"] = tetfile.Spec((3,), "i8", dims=("x",), chunks=(2,))
        out["x"][...] = range(3)
    for at in range(3, 35, 4):
        tetfile.append(path, {"a": wanted[:, at : at + 4], "x": np.arange(at, at + 4)}, axis="x")
    with tetfile.open(path) as file:
        np.testing.assert_array_equal(file["a"][...], wanted)
        np.testing.assert_array_equal(file["x"][...], np.arange(35))
    for wrong, axis, message in [
        ({"a": wanted}, "x", "'x' of the file has the dimension 'x', and is not appended"),
        ({"x": [1]}, "z", "'x' has no axis 'z'"),
        ({"x": [1]}, 1, "'x' has no axis 1"),
        ({"x": [[1]]}, 0, "'x' has shape"),
        ({"none": [1]}, 0, "no dataset"),
    ]:
        with pytest.raises(tetfile.UsageError, match=message):
            tetfile.append(path, wrong, axis=axis)
    with pytest.raises(OverflowError):
        tetfile.append(path, {"x": [1.5]})
    assert tetfile.verify(path).ok
    labeled = tetfile.Spec((2,), "i8", dims=("x",), labels={"x": ["a", "b"]})
    with tetfile.create(path, {"l": labeled}, overwrite=True) as out:
        out["l"][...] = 0
    with pytest.raises(tetfile.UsageError, match='axis 0 of dataset "l" has labels'):
        tetfile.append(path, {"l": [1]})
    tetfile.convert(path, tmp_path / "x.h5")
    with pytest.raises(tetfile.UsageError, match="growing along an axis is supported in"):
        tetfile.append(tmp_path / "x.h5", {"l": [1]})


@pytest.mark.parametrize("suffix", ["tets", "npz", "safetensors", "zt", "tgm"])
def test_files_of_other_formats_grow(tmp_path: Path, suffix: str) -> None:
    path, wanted = tmp_path / f"x.{suffix}", np.arange(350, dtype="f4").reshape(35, 10)
    with tetfile.create(tmp_path / "x.tet") as out:
        out["a"] = tetfile.Spec((3, 10), "f4", dims=("t", "x"), attrs={"units": "K"})
        out["a"][...] = wanted[:3]
    with pytest.warns(UserWarning, match="lacks") if suffix in ("npz", "safetensors") else nullcontext():
        tetfile.convert(tmp_path / "x.tet", path)
    axis: int | str = "t" if tetfile.open(path)["a"].dims else 0
    for at in range(3, 35, 16):
        tetfile.append(path, {"a": wanted[at : at + 16]}, axis=axis)
    with tetfile.open(path) as file:
        np.testing.assert_array_equal(file["a"][...], wanted)
    assert tetfile.verify(path).ok
    with pytest.raises(tetfile.UsageError, match="has shape"):
        tetfile.append(path, {"a": wanted[:, :9]}, axis=axis)
    with pytest.raises(tetfile.UsageError, match="keeps its codec"):
        tetfile.append(path, {"a": wanted}, axis=axis, codec="zstd")


def append_part(path: str, value: float) -> None:
    tetfile.append(path, {"x": [value]})


def test_processes_that_append_to_a_folder_of_parts_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.tets"
    np.savez(tmp_path / "x.npz", x=[0.0])
    tetfile.convert(tmp_path / "x.npz", path)
    with SPAWN.Pool(4) as pool:
        pool.starmap(append_part, [(str(path), float(value)) for value in range(1, 41)])
    assert sorted(tetfile.open(path)["x"][...]) == [*range(41)]


def test_there_may_be_more_parts_than_open_files(tmp_path: Path) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    plan = tetfile.plan(tmp_path / "x.tet", {"x": tetfile.Spec((300,), "i8", chunks=(1,))})
    for at in range(300):
        with plan.part() as part:
            part["x"][at] = at
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        plan.publish()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    np.testing.assert_array_equal(tetfile.open(tmp_path / "x.tet")["x"][...], np.arange(300))


def test_a_plan_is_given_up_while_tasks_still_write(tmp_path: Path) -> None:
    for nth in range(20):
        plan = tetfile.plan(tmp_path / f"{nth}.tet", {})
        folder = tmp_path / f"{nth}.tet.parts"
        begun = threading.Event()

        def work(folder: Path = folder, begun: threading.Event = begun) -> None:
            for step in range(100):
                try:
                    (folder / f"{step}.part.new").write_bytes(b"x")
                    (folder / f"{step}.part.new").unlink()
                except FileNotFoundError:
                    pass
                begun.set()

        task = threading.Thread(target=work)
        task.start()
        begun.wait()
        plan.discard()
        task.join()
        assert not folder.exists()
