"""zarr-python and xarray read every container through the store."""

from __future__ import annotations

import asyncio
import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import dask
import h5py
import numpy as np
import pytest
import tetfile
import xarray
import zarr
from containers import CONTAINERS, write
from tetfile.zarr import Store
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

PROTOTYPE = default_buffer_prototype()


def get(store: Store, key: str, part: Any = None) -> bytes | None:
    found = asyncio.run(store.get(key, PROTOTYPE, part))
    return None if found is None else found.to_bytes()


def collected(names: Any) -> list[str]:
    async def all_of() -> list[str]:
        return [name async for name in names]

    return asyncio.run(all_of())


@pytest.mark.parametrize("name", CONTAINERS)
def test_arrays_are_those_that_were_written(name: str, tmp_path: Path) -> None:
    path, arrays = write(tmp_path, name)
    has_left = any(key.startswith("bfloat16") for key in arrays)
    with pytest.warns(UserWarning, match="are left out") if has_left else nullcontext():
        store = Store(path)
    root = zarr.open_group(store, mode="r")
    assert set(store.left_out) == {key for key in store.file if key.startswith("bfloat16")}
    assert set(root.array_keys()) == set(store.file) - set(store.left_out)
    for key, array in root.arrays():
        wanted = arrays[key]
        assert array.shape == wanted.shape and array.dtype == wanted.dtype.newbyteorder("="), key
        assert np.array_equal(array[...], wanted), key
        if wanted.size:
            assert np.array_equal(
                array[tuple(slice(1, None) for _ in wanted.shape)], wanted[(slice(1, None),) * wanted.ndim]
            )
    keys = collected(store.list())
    assert len(keys) == len(set(keys))
    assert all(asyncio.run(store.exists(key)) for key in keys)
    for key in keys[:200]:
        found = get(store, key)
        assert found is not None and asyncio.run(store.getsize(key)) == len(found), key


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packed, missing and complex values, texts, groups, and axes without names."""
    random = np.random.default_rng(1)
    values = random.normal(280, 10, (40, 6, 9))
    values[random.random(values.shape) < 0.2] = np.nan
    made = xarray.Dataset(
        {
            "temp": (("time", "lat", "lon"), values, {"units": "K"}),
            "rain": (("time", "lat", "lon"), values.astype("f4")),
            "station": (("lat",), np.array(["a", "\u00e9c", "", "e", "f", "g" * 200], dtype=object)),
        },
        {"time": np.arange("2024-01-01", "2024-02-10", dtype="M8[D]").astype("M8[ns]"), "lat": np.linspace(-50, 50, 6)},
        attrs={"title": "days", "version": np.int32(3), "range": np.array([0.5, 1.5])},
    )
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": np.int16(-32767)}
    chunks = {"chunksizes": (7, 4, 9), "zlib": True}
    path = tmp_path_factory.mktemp("zarr") / "year.nc"
    made.to_netcdf(path, engine="netcdf4", encoding={"temp": packing | chunks, "rain": chunks})
    with h5py.File(path, "a") as out:
        out["deep/er/bare"] = np.arange(12.0).reshape(3, 4)
        out["deep"].attrs["why"] = "groups"
    return path


@pytest.mark.parametrize("how", [{}, {"consolidated": False}, {"chunks": None}])
def test_xarray_reads_what_netcdf4_reads(how: dict[str, Any], year: Path) -> None:
    with xarray.open_zarr(Store(year), **how) as ours, xarray.open_dataset(year, engine="netcdf4") as theirs:
        xarray.testing.assert_identical(ours.load(), theirs.load())
        assert ours["temp"].encoding["_FillValue"] == theirs["temp"].encoding["_FillValue"]
        assert np.isnan(ours["rain"].encoding["_FillValue"])


def test_groups_are_opened(year: Path) -> None:
    root = zarr.open_group(Store(year), mode="r")
    assert sorted(root.group_keys()) == ["deep"] and dict(root["deep"].attrs) == {"why": "groups"}
    assert root.attrs["version"] == 3 and root.attrs["range"] == [0.5, 1.5]
    bare = zarr.open_array(Store(year), path="deep/er/bare", mode="r")
    assert np.array_equal(bare[1:, ::2], np.arange(12.0).reshape(3, 4)[1:, ::2])
    assert bare.metadata.dimension_names == ("phony_dim_0", "phony_dim_1")
    with xarray.open_zarr(Store(year), group="deep/er", consolidated=False) as found:
        assert found["bare"].shape == (3, 4)


def test_keys_are_listed_as_in_a_folder(year: Path) -> None:
    store = Store(year)
    assert collected(store.list_dir("")) == ["zarr.json", "deep", "lat", "rain", "station", "temp", "time"]
    assert collected(store.list_dir("deep/")) == ["zarr.json", "er"]
    assert collected(store.list_dir("temp")) == ["zarr.json", "c"]
    assert collected(store.list_dir("temp/c")) == [str(at) for at in range(6)]
    assert collected(store.list_dir("temp/c/5/1")) == ["0"]
    assert collected(store.list_dir("temp/c/6")) == collected(store.list_dir("nothing")) == []
    assert collected(store.list_prefix("temp/c/5")) == ["temp/c/5/0/0", "temp/c/5/1/0"]
    assert collected(store.list_prefix("te")) == [key for key in collected(store.list()) if key.startswith("te")]
    for missing in (
        "",
        "x",
        "temp",
        "temp/c",
        "temp/c/0/0",
        "temp/c/0/0/9",
        "temp/c/00/0/0",
        "temp/c/-1/0/0",
        "temp/c/0/0/\u0661",
    ):
        assert not asyncio.run(store.exists(missing)) and get(store, missing) is None, missing
        with pytest.raises(FileNotFoundError):
            asyncio.run(store.getsize(missing))


def test_ranges_of_bytes_are_parts_of_values(year: Path) -> None:
    store = Store(year)
    for key in ("zarr.json", "temp/c/0/0/0", "temp/c/5/1/0", "station/c/0"):
        whole = get(store, key)
        assert whole is not None
        assert get(store, key, RangeByteRequest(3, 17)) == whole[3:17]
        assert get(store, key, RangeByteRequest(3, 1 << 40)) == whole[3:]
        assert get(store, key, OffsetByteRequest(5)) == whole[5:]
        assert get(store, key, SuffixByteRequest(6)) == whole[-6:]
        assert get(store, key, SuffixByteRequest(1 << 40)) == whole
        parts = asyncio.run(
            store.get_partial_values(PROTOTYPE, [(key, None), ("x", None), (key, OffsetByteRequest(9))])
        )
        assert [part and part.to_bytes() for part in parts] == [whole, None, whole[9:]]


def test_chunks_at_the_edge_are_filled_up(year: Path) -> None:
    chunk = np.frombuffer(get(Store(year), "temp/c/5/1/0") or b"", "<i2").reshape(7, 4, 9)
    assert (chunk[5:] == -32767).all() and (chunk[:, 2:] == -32767).all()
    with tetfile.open(year) as f:
        assert np.array_equal(chunk[:5, :2], f["temp"][35:, 4:])


def test_nothing_is_written(year: Path) -> None:
    store = Store(year)
    value = PROTOTYPE.buffer.from_bytes(b"x")
    writes = [
        store.set("k", value),
        store.delete("k"),
        store.delete_dir(""),
        store.set_if_not_exists("zarr.json", value),
    ]
    for work in [*writes, store.clear()]:
        with pytest.raises((ValueError, NotImplementedError)):
            asyncio.run(work)
    assert store.read_only and store.with_read_only(True) == store
    with pytest.raises(ValueError):
        store.with_read_only(False)
    with pytest.raises(ValueError):
        zarr.open_group(store, mode="r")["temp"][0, 0, 0] = 1
    with pytest.raises((ValueError, NotImplementedError)):
        zarr.open_group(store, mode="w")


def _sum(store: Store) -> int:
    return int(zarr.open_array(store, path="temp", mode="r")[...].astype("i8").sum())


def test_stores_are_pickled_and_compared(year: Path, tmp_path: Path) -> None:
    store = Store(year)
    again = pickle.loads(pickle.dumps(store))
    assert again == store and hash(again) == hash(store)
    assert Store(tetfile.open(year, digests="never")) != store and store != 3
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(_sum, store).result() == _sum(store)
    with xarray.open_zarr(store, chunks={}) as ours, dask.config.set(scheduler="processes", num_workers=2):
        found = ours["rain"].mean("time").compute()
    with xarray.open_dataset(year, engine="netcdf4") as theirs:
        xarray.testing.assert_allclose(found, theirs["rain"].mean("time"))


def test_decoded_files_have_decoded_values(year: Path) -> None:
    root = zarr.open_group(Store(tetfile.open(year, decoded=True)), mode="r")
    with tetfile.open(year, decoded=True) as f:
        assert np.array_equal(root["temp"][...], f["temp"][...], equal_nan=True)
    with xarray.open_zarr(Store(tetfile.open(year, decoded=True))) as ours:
        with xarray.open_dataset(year, engine="netcdf4") as theirs:
            xarray.testing.assert_allclose(ours["temp"], theirs["temp"])


def test_what_has_no_place_is_left_out_with_its_reason(tmp_path: Path) -> None:
    import ml_dtypes
    import safetensors.numpy

    path = tmp_path / "x.safetensors"
    made = {name: np.arange(3, dtype="f4") for name in ("plain", "a", "a/b", "up/../down", "g/zarr.json", "x//y", "")}
    made["half"] = np.zeros(2, ml_dtypes.bfloat16)
    safetensors.numpy.save_file(made, path)
    with pytest.warns(UserWarning, match="the name (is|has)|datasets of .* are left out: .*; 'half': .*bfloat16"):
        store = Store(path)
    assert set(store.left_out) == {"a/b", "up/../down", "g/zarr.json", "x//y", "", "half"}
    assert "below the array 'a'" in store.left_out["a/b"] and "bfloat16" in store.left_out["half"]
    root = zarr.open_group(store, mode="r")
    assert set(root.array_keys()) == {"plain", "a"}
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out["parts"] = np.zeros(3, dtype=[("a", "i4"), ("b", "f8")])
    with pytest.warns(UserWarning, match="datasets of .* are left out: 'parts': "):
        assert list(Store(tmp_path / "x.h5").left_out) == ["parts"]


def test_large_raw_arrays_are_read_in_parts(tmp_path: Path) -> None:
    np.save(tmp_path / "large.npy", np.arange(5 << 20, dtype="i8").reshape(5, 1 << 20))
    with h5py.File(tmp_path / "large.h5", "w") as out:
        out.create_dataset("raw", data=np.arange(10 << 20, dtype="i8").reshape(10, 1 << 20), chunks=(10, 1 << 20))
        out.create_dataset("packed", shape=(10, 1 << 20), dtype="i8", chunks=(10, 1 << 20), compression="gzip")
    assert zarr.open_group(Store(tmp_path / "large.npy"), mode="r")["large"].chunks == (1, 1 << 19)
    root = zarr.open_group(Store(tmp_path / "large.h5"), mode="r")
    assert root["raw"].chunks == (1, 1 << 19) and root["packed"].chunks == (10, 1 << 20)
    assert root["raw"][9, -1] == (10 << 20) - 1


def test_chunks_beyond_memory_are_read_in_parts(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "huge.h5", "w") as out:
        out.create_dataset(
            "x", shape=((1 << 20) + 1, 1 << 10), dtype="f4", maxshape=(None, None), chunks=(1 << 20, 500), fillvalue=3
        )
    found = zarr.open_group(Store(tmp_path / "huge.h5"), mode="r")["x"]
    assert np.prod(found.chunks) * 4 <= 1 << 30
    assert found[1 << 20, -1] == 3


def test_damage_is_an_error_of_the_read(files: Path) -> None:
    root = zarr.open_group(Store(files / "broken.tet"), mode="r")
    assert root["month"][-1] == 12
    with pytest.raises(tetfile.DamagedError):
        root["temp"][...]


def test_documents_are_json_of_zarr(year: Path) -> None:
    store = Store(year)
    root = json.loads(get(store, "zarr.json") or b"")
    assert set(root["consolidated_metadata"]["metadata"]) == {"deep", "deep/er", "deep/er/bare", *list(store.file)[:5]}
    temp = json.loads(get(store, "temp/zarr.json") or b"")
    assert temp["fill_value"] == temp["attributes"]["_FillValue"] == -32767
    assert temp["chunk_grid"]["configuration"]["chunk_shape"] == [7, 4, 9]
