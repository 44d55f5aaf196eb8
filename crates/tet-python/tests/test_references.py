"""Readers of Zarr read the stored bytes in place, by references of kerchunk and by manifests of VirtualiZarr."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Literal

import fsspec
import h5py
import netCDF4
import numpy as np
import pytest
import tetfile
import xarray
import zarr
from containers import CONTAINERS, write

# Zarr warns of codecs and types that its version 3 has not yet standardized, pandas of what fsspec reads Parquet with.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3 specification"),
    pytest.mark.filterwarnings("ignore:The 'fastparquet' engine is deprecated"),
    pytest.mark.filterwarnings("ignore:The data type .* does not have a Zarr V3 specification"),
]


def opened(references: Any, zarr_format: Literal[2, 3] = 2) -> zarr.Group:
    """A group that zarr-python reads through fsspec."""
    how = {"asynchronous": True, "remote_protocol": "file", "skip_instance_cache": True}
    fs = fsspec.filesystem("reference", fo=references, **how)
    return zarr.open_group(zarr.storage.FsspecStore(fs, read_only=True, path=""), mode="r", zarr_format=zarr_format)


def as_xarray(references: Any, zarr_format: Literal[2, 3]) -> xarray.Dataset:
    """A dataset with arrays of dask; the engine of kerchunk reads metadata of Zarr 2 alone."""
    if zarr_format == 2:
        return xarray.open_dataset(references, engine="kerchunk", chunks={})
    return xarray.open_zarr(opened(references, 3).store, zarr_format=3, consolidated=False)


def refused(f: tetfile.File) -> list[str]:
    """The datasets that have no references."""
    found = []
    for name in f:
        try:
            f.to_references(include=[name], inline=0)
        except tetfile.UnsupportedError as error:
            assert error.dataset == name and f'"{name}"' in str(error) and error.path == f.path
            found.append(name)
    return found


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("inline", [0, 1 << 20], ids=["in place", "inlined"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_arrays_are_those_that_were_written(
    name: str, inline: int, zarr_format: Literal[2, 3], tmp_path: Path
) -> None:
    path, arrays = write(tmp_path, name)
    document = tmp_path / "references.json"
    with tetfile.open(path) as f:
        left = refused(f)
        # Numbers that .tet stores as others, and types that Zarr lacks.
        assert all(key.startswith(("bfloat16", "int8") if "tet" in name else "bfloat16") for key in left)
        references = f.to_references(document, exclude=left, inline=inline, zarr_format=zarr_format)
        wanted = {key: arrays[key] for key in f if key not in left}
    assert json.loads(document.read_text()) == json.loads(json.dumps(references))
    chunks = [key for key, value in references["refs"].items() if isinstance(value, list)]
    assert bool(chunks) == (inline == 0)
    root = opened(str(document), zarr_format)
    assert set(root.array_keys()) == set(wanted)
    with tetfile.open(document) as again:
        for key, array in wanted.items():
            found = root[key]
            assert found.shape == array.shape and found.dtype.newbyteorder("=") == array.dtype.newbyteorder("="), key
            assert np.array_equal(found[...], array), key
            assert np.array_equal(again[key][...], array), key


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packed and missing values in shuffled and deflated chunks, checksums, texts, and a group."""
    random = np.random.default_rng(1)
    values = random.normal(280, 10, (40, 6, 9))
    values[random.random(values.shape) < 0.2] = np.nan
    made = xarray.Dataset(
        {
            "temp": (("time", "lat", "lon"), values, {"units": "K"}),
            "rain": (("time", "lat", "lon"), values.astype("f4")),
        },
        {"time": np.arange("2024-01-01", "2024-02-10", dtype="M8[D]").astype("M8[ns]"), "lat": np.linspace(-50, 50, 6)},
        attrs={"title": "days"},
    )
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": np.int16(-32767)}
    chunks = {"chunksizes": (7, 4, 9), "zlib": True, "shuffle": True}
    path = tmp_path_factory.mktemp("references") / "year.nc"
    made.to_netcdf(path, engine="netcdf4", encoding={"temp": packing | chunks | {"fletcher32": True}, "rain": chunks})
    with h5py.File(path, "a") as out:
        out["deep/er/bare"] = np.arange(1200.0).reshape(30, 40)
        out["deep"].attrs["why"] = "groups"
    return path


@pytest.mark.filterwarnings("ignore:references in Parquet have no groups")
@pytest.mark.parametrize("inline", [0, 4096])
@pytest.mark.parametrize("format, zarr_format", [("json", 2), ("json", 3), ("parquet", 2)])
def test_xarray_reads_what_netcdf4_reads(
    format: str, zarr_format: Literal[2, 3], inline: int, year: Path, tmp_path: Path
) -> None:
    target = tmp_path / f"year.{format}"
    how = {"format": format, "zarr_format": zarr_format, "exclude": ["deep/er/bare"]}
    tetfile.open(year).to_references(target, inline=inline, **how)
    with (
        as_xarray(str(target), zarr_format) as ours,
        xarray.open_dataset(year, engine="netcdf4") as theirs,
    ):
        xarray.testing.assert_identical(ours.load(), theirs.load())
        assert ours["temp"].encoding["_FillValue"] == theirs["temp"].encoding["_FillValue"]


def test_groups_have_references(year: Path) -> None:
    root = opened(tetfile.open(year).to_references())
    assert dict(root["deep"].attrs) == {"why": "groups"}
    assert np.array_equal(root["deep/er/bare"][7:9, ::3], np.arange(1200.0).reshape(30, 40)[7:9, ::3])


def test_bytes_are_at_the_places_that_are_named(year: Path) -> None:
    refs = tetfile.open(year).to_references(inline=0)["refs"]
    metadata = json.loads(refs["temp/.zarray"])
    assert [codec["id"] for codec in [*metadata["filters"], metadata["compressor"]]] == [
        "fletcher32",
        "shuffle",
        "zlib",
    ]
    with h5py.File(year) as theirs:
        for number in range(theirs["temp"].id.get_num_chunks()):
            chunk = theirs["temp"].id.get_chunk_info(number)
            key = ".".join(str(at // extent) for at, extent in zip(chunk.chunk_offset, (7, 4, 9), strict=True))
            assert refs[f"temp/{key}"] == [str(year), chunk.byte_offset, chunk.size]
        assert refs["lat/0"] == [str(year), theirs["lat"].id.get_offset(), 48]


def test_addresses_are_replaced(year: Path, tmp_path: Path) -> None:
    refs = tetfile.open(year).to_references(inline=0, url="s3://bucket/year.nc")["refs"]
    assert {value[0] for value in refs.values() if isinstance(value, list)} == {"s3://bucket/year.nc"}
    zarr.save_array(tmp_path / "a.zarr", np.arange(5000.0))
    refs = tetfile.open(tmp_path / "a.zarr").to_references(url="s3://bucket/a.zarr/")["refs"]
    assert [value[0] for value in refs.values() if isinstance(value, list)] == ["s3://bucket/a.zarr/c/0"]


def test_large_raw_arrays_are_cut_into_chunks_of_one_length(tmp_path: Path) -> None:
    wanted = np.arange(7 * 300_000, dtype=">i4").reshape(7, 300_000)
    np.save(tmp_path / "a.npy", wanted)
    references = tetfile.open(tmp_path / "a.npy").to_references()
    root = opened(references)
    assert root["a"].chunks == (1, 300_000) and np.array_equal(root["a"][2:5, ::1000], wanted[2:5, ::1000])
    # A prime number of rows that fit no slab is one chunk.
    np.save(tmp_path / "b.npy", np.arange(1_048_583, dtype="i8"))
    assert opened(tetfile.open(tmp_path / "b.npy").to_references())["b"].chunks == (1_048_583,)


def test_chunks_that_are_not_stored_are_the_fill_value(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "holes.h5", "w") as out:
        for name, fill in [("zero", 0), ("seven", 7)]:
            made = out.create_dataset(name, (40, 40), "i4", chunks=(10, 10), fillvalue=fill)
            made[10:20, 30:] = 5
        out.create_dataset("nothing", (40, 40), "f8", fillvalue=np.nan)
        wanted = {name: out[name][...] for name in out}
    references = tetfile.open(tmp_path / "holes.h5").to_references(inline=0)
    assert sum(isinstance(value, list) for value in references["refs"].values()) == 2
    for key, array in opened(references).arrays():
        assert np.array_equal(array[...], wanted[key], equal_nan=key == "nothing"), key
    with h5py.File(tmp_path / "holes.h5", "a") as out:
        out["seven"].attrs["_FillValue"] = np.int32(-1)
    with pytest.raises(tetfile.UnsupportedError, match="not the missing value"):
        tetfile.open(tmp_path / "holes.h5").to_references(inline=0)


def test_what_cannot_be_read_in_place_is_refused_with_its_reason(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out.create_dataset("lzf", data=np.arange(5000), chunks=(100,), compression="lzf")
        out.create_dataset("masked", data=np.arange(5000), chunks=(1000,), compression="gzip", shuffle=True)
        out["masked"].id.write_direct_chunk((1000,), np.arange(1000).tobytes(), filter_mask=3)
        out.create_dataset("text", data=np.array(["a", "bc"] * 1000, dtype=object), dtype=h5py.string_dtype())
        out["fine"] = np.arange(5000)
    f = tetfile.open(tmp_path / "x.h5")
    reasons = {"lzf": "chunks are lzf", "masked": "other codecs", "text": "texts"}
    for name, reason in reasons.items():
        with pytest.raises(tetfile.UnsupportedError, match=f"{name}.*{reason}") as caught:
            f.to_references(include=[name])
        assert caught.value.dataset == name
    assert refused(f) == sorted(reasons)
    root = opened(f.to_references(exclude=["lzf", "masked"], inline=20_000))
    assert list(root["text"][:3]) == ["a", "bc", "a"] and np.array_equal(root["fine"][...], np.arange(5000))
    with pytest.raises(tetfile.NotFoundError):
        f.to_references(exclude=["nothing"])


def test_clipped_chunks_are_refused_or_filled_and_raw_ones_are_one_piece(tmp_path: Path) -> None:
    wanted = np.random.default_rng(0).random((500, 70))
    np.savez(tmp_path / "a.npz", x=wanted)
    tetfile.convert(tmp_path / "a.npz", tmp_path / "zstd.tet", codec="zstd", chunks=[150, 30])
    tetfile.convert(tmp_path / "a.npz", tmp_path / "columns.tet", codec="raw", chunks=[500, 30])
    for name in ("zstd.tet", "columns.tet"):
        f = tetfile.open(tmp_path / name)
        with pytest.raises(tetfile.UnsupportedError, match="chunks at its edges") as caught:
            f.to_references()
        assert caught.value.dataset == "x"
        for zarr_format in (2, 3):
            for edges in ("inline", "sidecar"):
                target = tmp_path / f"{name}.{zarr_format}.{edges}.json"
                references = f.to_references(target, edges=edges, zarr_format=zarr_format)
                filled = [value for value in references["refs"].values() if str(value).startswith("base64:")]
                files = {value[0] for value in references["refs"].values() if isinstance(value, list)}
                if edges == "inline":
                    assert len(filled) == (6 if name == "zstd.tet" else 1) and files == {f.path}
                else:
                    assert not filled and files == {f.path, f"{target}.edges"}
                root = opened(references, zarr_format)
                assert root["x"].chunks == ((150, 30) if name == "zstd.tet" else (500, 30))
                assert np.array_equal(root["x"][...], wanted)
                with as_xarray(str(target), zarr_format) as ours:
                    assert np.array_equal(ours["x"].compute().values, wanted)
                with tetfile.open(target) as again:
                    assert np.array_equal(again["x"][...], wanted)
        with pytest.raises(tetfile.UsageError, match="sidecar"):
            f.to_references(edges="sidecar")
    tetfile.convert(tmp_path / "a.npz", tmp_path / "whole.tet", codec="zstd", chunks=[125, 35])
    root = opened(tetfile.open(tmp_path / "whole.tet").to_references())
    assert root["x"].chunks == (125, 35) and np.array_equal(root["x"][...], wanted)
    tetfile.convert(tmp_path / "a.npz", tmp_path / "raw.tet", codec="raw", chunks=[150, 70])
    root = opened(tetfile.open(tmp_path / "raw.tet").to_references())
    assert root["x"].chunks == (500, 70) and np.array_equal(root["x"][...], wanted)
    np.savez_compressed(tmp_path / "packed.npz", x=wanted)
    with pytest.raises(tetfile.UnsupportedError, match="not in a file"):
        tetfile.open(tmp_path / "packed.npz").to_references()


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("suffix", [".nc", ".tet", ".zarr"])
def test_files_are_one_array_along_an_axis(suffix: str, zarr_format: Literal[2, 3], tmp_path: Path) -> None:
    times = np.arange("2024-01-01", "2024-02-10", dtype="M8[D]").astype("M8[ns]")
    values = np.random.default_rng(2).normal(0, 1, (40, 6, 9)).astype("f4")
    whole = xarray.Dataset(
        {"temp": (("time", "lat", "lon"), values, {"units": "K"})},
        {"time": times, "lat": np.linspace(-50, 50, 6)},
    )
    paths = []
    for start, stop in [(0, 14), (14, 28), (28, 40)]:
        part, path = tmp_path / f"{start}.nc", tmp_path / f"{start}{suffix}"
        encoding = {"temp": {"chunksizes": (7, 4, 9), "zlib": True}, "time": {"units": "days since 2024-01-01"}}
        whole.isel(time=slice(start, stop)).to_netcdf(part, engine="netcdf4", encoding=encoding)
        if path != part:
            tetfile.convert(part, path, codec="zstd")
        paths.append(path)
    target = tmp_path / "all.json"
    how = {"concat": "time", "others": paths[1:], "edges": "inline", "zarr_format": zarr_format}
    references = tetfile.open(paths[0]).to_references(target, **how)
    root = opened(references, zarr_format)
    assert root["temp"].shape == (40, 6, 9) and np.array_equal(root["temp"][...], values)
    with as_xarray(str(target), zarr_format) as ours:
        assert np.array_equal(ours["temp"].compute().values, values)
        assert np.array_equal(ours["time"].values, times) and np.array_equal(ours["lat"].values, whole["lat"].values)
        assert np.array_equal(ours["temp"].sel(time="2024-02-09").squeeze().values, values[39])
    with tetfile.open(target) as again:
        assert np.array_equal(again["temp"][...], values)
    with pytest.raises(tetfile.UsageError, match="ends within a chunk|their chunks have the shapes"):
        tetfile.open(paths[2]).to_references(concat="time", others=paths[:1], edges="inline")


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["<f8", ">i4", ">c16", "u1"])
@pytest.mark.parametrize("shape", [(500, 70), (7, 300, 400), (3, 1, 5000)])
def test_column_major_arrays_are_read_in_place(
    shape: tuple[int, ...], dtype: str, zarr_format: Literal[2, 3], tmp_path: Path
) -> None:
    wanted = np.asfortranarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype))
    np.save(tmp_path / "a.npy", wanted)
    references = tetfile.open(tmp_path / "a.npy").to_references(tmp_path / "a.json", zarr_format=zarr_format)
    assert any(isinstance(value, list) for value in references["refs"].values())
    assert np.array_equal(opened(references, zarr_format)["a"][...], wanted)
    assert np.array_equal(tetfile.open(tmp_path / "a.json")["a"][...], wanted)


@pytest.mark.filterwarnings("ignore:references in Parquet have no groups")
def test_outputs_are_not_replaced_unasked(year: Path, tmp_path: Path) -> None:
    f = tetfile.open(year)
    for format in ("json", "parquet"):
        target = tmp_path / f"references.{format}"
        how = {"format": format, "include": ["temp", "lat"]}
        f.to_references(target, **how)
        with pytest.raises(FileExistsError):
            f.to_references(target, **how)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            f.to_references(target, **how, overwrite=True)
        is_lost = any("attributes of deep are left out" in str(it.message) for it in said)
        assert is_lost == (format == "parquet")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/precious").write_text("x")
    with pytest.raises(FileExistsError):
        f.to_references(tmp_path / "folder", format="parquet", include=["temp"], overwrite=True)
    with pytest.raises(tetfile.UnsupportedError, match="groups in Parquet"):
        f.to_references(tmp_path / "groups", format="parquet")
    assert (tmp_path / "folder/precious").read_text() == "x"
    with pytest.raises(ValueError, match="format"):
        f.to_references(tmp_path / "x", format="xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "references.json", "references.parquet"]


def test_decoded_files_have_no_references(year: Path) -> None:
    with pytest.raises(tetfile.UnsupportedError, match="without decoded=True"):
        tetfile.open(year, decoded=True).to_references()


def test_virtual_datasets_are_written_as_kerchunk_and_icechunk(year: Path, tmp_path: Path) -> None:
    import icechunk
    import virtualizarr  # noqa: F401

    virtual = tetfile.open(year).to_virtual()
    assert virtual["temp"].data.manifest.shape_chunk_grid == (6, 2, 1) and virtual.attrs == {"title": "days"}
    assert isinstance(virtual["lat"].values, np.ndarray) and set(virtual.coords) == {"time", "lat"}
    with xarray.open_dataset(year, engine="netcdf4") as opened_year:
        theirs = opened_year.load()
    virtual.vz.to_kerchunk(str(tmp_path / "virtual.json"), format="json")
    with xarray.open_dataset(str(tmp_path / "virtual.json"), engine="kerchunk") as ours:
        xarray.testing.assert_identical(ours[["temp", "rain"]].load(), theirs[["temp", "rain"]])

    config = icechunk.RepositoryConfig.default()
    place = f"file://{year.parent}/"
    config.set_virtual_chunk_container(
        icechunk.VirtualChunkContainer(place, icechunk.local_filesystem_store(str(year.parent)))
    )
    allowed = icechunk.containers_credentials({place: None})
    storage = icechunk.local_filesystem_storage(str(tmp_path / "repository"))
    repository = icechunk.Repository.create(storage, config, authorize_virtual_chunk_access=allowed)
    session = repository.writable_session("main")
    virtual.vz.to_icechunk(session.store)
    session.commit("one year")
    with xarray.open_zarr(repository.readonly_session("main").store, consolidated=False) as ours:
        xarray.testing.assert_identical(ours.load(), theirs)


def test_virtual_datasets_of_many_files_are_concatenated(tmp_path: Path) -> None:
    parts = []
    for number in range(3):
        with netCDF4.Dataset(tmp_path / f"{number}.nc", "w") as out:
            out.createDimension("time", 4)
            out.createDimension("x", 50)
            out.createVariable("v", "f8", ("time", "x"), chunksizes=(2, 50), zlib=True)[:] = number + np.arange(
                200.0
            ).reshape(4, 50)
        parts.append(tetfile.open(tmp_path / f"{number}.nc").to_virtual(inline=100))
    joined = xarray.concat(parts, dim="time", coords="minimal", compat="override", join="override")
    joined.vz.to_kerchunk(str(tmp_path / "joined.json"), format="json")
    with xarray.open_dataset(str(tmp_path / "joined.json"), engine="kerchunk") as found:
        assert found["v"].shape == (12, 50)
        assert np.array_equal(found["v"][8:].values, 2 + np.arange(200.0).reshape(4, 50))
        with tetfile.open(tmp_path / "joined.json") as again:
            assert np.array_equal(again["v"][...], found["v"].values)


def test_groups_of_virtual_datasets_are_opened(year: Path) -> None:
    assert tetfile.open(year).to_virtual("deep/er")["bare"].shape == (30, 40)
    with pytest.raises(tetfile.NotFoundError):
        tetfile.open(year).to_virtual("nothing")


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(("chunk", "mask"), [((0, 0), 3), ((1, 1), 3), ((1, 0), 2)])
def test_chunks_whose_filters_were_skipped(
    zarr_format: Literal[2, 3], chunk: tuple[int, int], mask: int, tmp_path: Path
) -> None:
    path, values = tmp_path / "skipped.h5", np.arange(24, dtype="i4").reshape(4, 6)
    with h5py.File(path, "w") as out:
        x = out.create_dataset("x", values.shape, "i4", chunks=(2, 3), shuffle=True, compression="gzip")
        x[...] = values
        start = (chunk[0] * 2, chunk[1] * 3)
        part = values[start[0] : start[0] + 2, start[1] : start[1] + 3].copy()
        # Bit 1 leaves out gzip, bit 0 shuffle, which puts the first bytes of all elements first.
        stored = part.tobytes() if mask == 3 else np.ascontiguousarray(part.view("u1").reshape(6, 4).T).tobytes()
        x.id.write_direct_chunk(start, stored, filter_mask=mask)
    with tetfile.open(path) as f:
        np.testing.assert_array_equal(f["x"][...], values)
        with pytest.raises(tetfile.UnsupportedError, match=rf"chunk \[{chunk[0]}, {chunk[1]}\] is stored with other codecs"):
            f.to_references(inline=0, zarr_format=zarr_format)
        found = f.to_references(inline=0, edges="inline", zarr_format=zarr_format)
        copied = [key for key, value in found["refs"].items() if "/0" in key or "/1" in key if isinstance(value, str)]
        assert len(copied) == 1 and copied[0].endswith(f"{chunk[0]}{'.' if zarr_format == 2 else '/'}{chunk[1]}")
        np.testing.assert_array_equal(opened(found, zarr_format)["x"][...], values)
        beside = tmp_path / "beside.json"
        f.to_references(beside, inline=0, edges="sidecar", zarr_format=zarr_format)
        np.testing.assert_array_equal(opened(str(beside), zarr_format)["x"][...], values)


def test_a_cluster_of_processes_reads_in_place(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    values = np.random.default_rng(1).random((40, 30)).astype("f4")
    with tetfile.create(tmp_path / "x.tet", codec="zstd") as out:
        out["x"] = tetfile.Spec(values.shape, "f4", chunks=(8, 30), dims=("time", "place"))
        out["x"][...] = values
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as nc:
        nc.createDimension("time", 40)
        nc.createDimension("place", 30)
        nc.createVariable("x", "f4", ("time", "place"), chunksizes=(8, 30), zlib=True)[:] = values
    documents = {}
    for name in ("x.tet", "x.nc"):
        for zarr_format in (2, 3):
            document = tmp_path / f"{name}.{zarr_format}.json"
            with tetfile.open(tmp_path / name) as f:
                f.to_references(document, inline=0, zarr_format=zarr_format)
            documents[str(document)] = zarr_format
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        for document, zarr_format in documents.items():
            x = as_xarray(document, zarr_format)["x"]
            assert x.chunks is not None or zarr_format == 3
            np.testing.assert_array_equal(x.chunk(time=8).compute(), values)
            np.testing.assert_array_equal(x.chunk(time=8).max("time").compute(), values.max(0))
