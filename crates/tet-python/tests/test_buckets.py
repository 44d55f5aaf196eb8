"""Files in buckets: written by several processes, by dask, edited in place, and folders of parts that grow."""

from __future__ import annotations

import pickle
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import tetfile
import tetfile.xarray
import xarray
from children import SPAWN, working
from moto.server import ThreadedMotoServer
from test_parts import die_in_part, write_part

URL = "s3://bucket/x.tet"


def prepared(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a server that is running the one of this process, with one empty bucket."""
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    urllib.request.urlopen(urllib.request.Request(f"{address}/moto-api/reset", method="POST"))
    urllib.request.urlopen(urllib.request.Request(f"{address}/bucket", method="PUT"))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server that has one empty bucket."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    prepared(address, monkeypatch)
    yield address
    server.stop()


def keys(address: str) -> list[str]:
    """The names of all objects."""
    with urllib.request.urlopen(f"{address}/bucket?list-type=2") as answer:
        text = answer.read().decode()
    return [part.split("</Key>")[0] for part in text.split("<Key>")[1:]]


def begun(**how: Any) -> tetfile.WritePlan:
    return tetfile.plan(URL, {"x": tetfile.Spec((100,), "i8", chunks=(10,))}, **how)


def test_keys_are_fetched_once(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tetfile.create(URL, {"x": np.arange(100)}):
        pass
    program, count = tmp_path / "keys.sh", tmp_path / "count"
    keys = '{"Version": 1, "AccessKeyId": "key", "SecretAccessKey": "secret"}'
    program.write_text(f"echo run >> '{count}'\necho '{keys}'\n")
    (tmp_path / "config").write_text(f"[profile program]\ncredential_process = sh '{program}'\n")
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "program")
    for _ in range(3):
        np.testing.assert_array_equal(tetfile.open(URL)["x"][...], np.arange(100))
    assert count.read_text() == "run\n"
    monkeypatch.setenv("AWS_PROFILE", "absent")
    with pytest.raises(OSError, match="absent"):
        tetfile.open(URL)


def test_processes_write_one_object(bucket: str) -> None:
    plan = begun(codec="zstd")
    with SPAWN.Pool(2) as pool:
        pool.starmap(write_part, [(pickle.loads(pickle.dumps(plan)), at) for at in range(0, 100, 10)])
    assert len(plan.parts()) == 10 and "x.tet" not in keys(bucket)
    with pytest.raises(FileExistsError, match="plan"):
        begun()
    tetfile.WritePlan.of(URL).publish()
    assert keys(bucket) == ["x.tet"]
    np.testing.assert_array_equal(tetfile.open(URL)["x"][...], np.arange(100))
    assert tetfile.verify(URL).ok
    with pytest.raises(FileExistsError):
        begun()


def first_of(dataset: tetfile.Dataset) -> int:
    return int(dataset[0])


def test_datasets_of_urls_are_read_in_other_processes(bucket: str) -> None:
    with tetfile.create(URL, {"x": np.arange(7, 10)}):
        pass
    with tetfile.open(URL) as file, SPAWN.Pool(1) as pool:
        assert pool.apply(first_of, (file["x"],)) == 7


def test_refused_urls_are_exceptions_of_their_kind_without_secrets(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match="404.*s3://bucket/x.tet"):
        tetfile.open(URL)
    with tetfile.create(URL, {"x": np.arange(3)}):
        pass
    with pytest.raises(PermissionError, match="403.*/bucket/x.tet'$"):
        tetfile.open(f"{bucket}/bucket/x.tet?token=hidden")
    with tetfile.open(URL) as file:
        monkeypatch.setattr(file, "_where", "https://user:hidden@host/bucket/x.tet?token=hidden#hidden")
        shown = [repr(file), file.tree(), file._repr_html_()]
    shown += [repr(file), file._repr_html_()]
    assert all("https://host/bucket/x.tet" in text and "hidden" not in text for text in shown)


def test_a_worker_that_dies_leaves_the_old_object(bucket: str) -> None:
    with tetfile.create(URL, {"x": np.arange(3)}):
        pass
    plan = begun(overwrite=True)
    with working(die_in_part, plan) as process:
        process.join(60)
    for at in range(10, 100, 10):
        write_part(plan, at)
    with pytest.raises(tetfile.UsageError, match=r"\[0\] of \"x\""):
        plan.publish()
    np.testing.assert_array_equal(tetfile.open(URL)["x"][...], np.arange(3))
    # What is missing can be written.
    write_part(plan, 0)
    plan.publish()
    np.testing.assert_array_equal(tetfile.open(URL)["x"][...], np.arange(100))
    assert keys(bucket) == ["x.tet"]


def test_a_plan_that_is_given_up_leaves_nothing(bucket: str) -> None:
    plan = begun()
    write_part(plan, 0)
    assert len(keys(bucket)) == 2
    plan.discard()
    assert keys(bucket) == []


def test_dask_writes_to_a_bucket(bucket: str) -> None:
    data = xarray.Dataset(
        {"temp": (("time", "x"), np.random.default_rng(1).random((40, 6)), {"units": "K"})},
        {"time": np.arange(40), "x": np.arange(6) * 0.5},
    )
    with dask.config.set(scheduler="processes", num_workers=2):
        data.chunk(time=10, x=3).tet.to_tet(URL)
    assert keys(bucket) == ["x.tet"]
    with xarray.open_dataset(URL, engine="tet") as found:
        xarray.testing.assert_identical(found.load(), data)
    # Regions and appends replace the version that was read.
    data.isel(time=[3]).drop_vars("x").assign(temp=lambda it: it.temp * 0).tet.to_tet(URL, region={"time": slice(3, 4)})
    data.isel(time=slice(0, 2)).assign_coords(time=[40, 41]).tet.to_tet(URL, append_dim="time")
    with xarray.open_dataset(URL, engine="tet") as found:
        assert found.sizes["time"] == 42
        assert (found["temp"][3] == 0).all()
        np.testing.assert_array_equal(found["temp"][40:], data["temp"][:2])
    assert keys(bucket) == ["x.tet"]


def test_a_folder_of_parts_grows_in_a_bucket(bucket: str) -> None:
    url = "s3://bucket/day.tets"
    rows = {"temp": (("time", "x"), np.arange(12.0).reshape(4, 3))}
    xarray.Dataset(rows, {"time": np.arange(4)}).tet.to_tet("s3://bucket/first.tet")
    tetfile.convert("s3://bucket/first.tet", url)
    with tetfile.open(url) as file:
        assert file["temp"].shape == (4, 3)
    tetfile.append(url, {"temp": np.full((2, 3), 7.0), "time": np.array([4, 5])}, axis="time")
    with tetfile.open(url) as file:
        np.testing.assert_array_equal(file["temp"][...], np.vstack([np.arange(12.0).reshape(4, 3), np.full((2, 3), 7.0)]))
    assert len([key for key in keys(bucket) if "/part-" in key]) == 2
