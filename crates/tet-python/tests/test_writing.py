"""Files are written whole or not at all, in any order, and are read back the same."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import netCDF4
import numpy as np
import pytest
import tetfile
import xarray
import zarr
from children import running
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

DTYPES = [
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("bool", "complex64", "complex128"),
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
]


def elements(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Elements of any type, all bit patterns that the type has."""
    kind = np.dtype(dtype)
    count = int(np.prod(shape))
    rng = np.random.default_rng(count)
    if kind == bool:
        return rng.integers(0, 2, count).astype(bool).reshape(shape)
    return np.frombuffer(rng.bytes(count * kind.itemsize), kind).reshape(shape)


def same_bits(found: Any, wanted: Any) -> bool:
    found, wanted = np.asarray(found), np.asarray(wanted)
    return found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("codec", ["raw", "zstd"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda it: np.dtype(it).name)
def test_every_type_is_read_back(tmp_path: Path, dtype: Any, codec: Any) -> None:
    arrays = {"a": elements((5, 7), dtype), "one": elements((), dtype), "none": elements((0, 3), dtype)}
    with tetfile.create(tmp_path / "x.tet", arrays, codec=codec) as out:
        assert list(out) == list(arrays)
    assert tetfile.verify(tmp_path / "x.tet").ok
    with tetfile.open(tmp_path / "x.tet") as file:
        for name, array in arrays.items():
            assert same_bits(file[name][...], array), name


@pytest.mark.parametrize("suffix", ["h5", "nc", "zarr", "npz", "zt", "tgm", "safetensors"])
def test_other_formats_are_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    with tetfile.create(path, {"a": np.arange(12.0).reshape(3, 4)}) as out:
        out["b"] = np.arange(5, dtype="int32")
    assert os.listdir(tmp_path) == [path.name]
    with tetfile.open(path) as file:
        np.testing.assert_array_equal(file["a"][...], np.arange(12.0).reshape(3, 4))
        assert file["b"].dtype == "int32"


def test_numbers_are_converted_to_other_types(tmp_path: Path) -> None:
    source, target = tmp_path / "a.npz", tmp_path / "b.npz"
    floats, integers = np.linspace(-3, 3, 30_000).reshape(3, 100, 100), np.arange(200)
    np.savez(source, floats=floats, integers=integers)
    tetfile.convert(source, target, dtype="float32")
    found = np.load(target)
    assert found["floats"].dtype == np.float32 and (found["floats"] == floats.astype(np.float32)).all()
    assert found["integers"].dtype == integers.dtype
    tetfile.convert(source, target, dtype={"integers": "uint8", "floats": "float16"}, overwrite=True)
    found = np.load(target)
    assert found["integers"].dtype == np.uint8 and (found["integers"] == integers).all()
    assert (found["floats"] == floats.astype(np.float16)).all()
    with pytest.raises(tetfile.UsageError, match=r'element \[128\] of dataset "integers" is 128, which int8'):
        tetfile.convert(source, tmp_path / "c.npz", dtype={"integers": "int8"})
    with pytest.raises(ValueError, match='"float8" is not'):
        tetfile.convert(source, tmp_path / "c.npz", dtype="float8")
    assert not (tmp_path / "c.npz").exists()


def test_others_read_what_is_converted(tmp_path: Path) -> None:
    array = np.arange(12.0).reshape(3, 4)
    tetfile.create(tmp_path / "x.h5", {"a": array}).commit()
    tetfile.create(tmp_path / "x.zarr", {"a": array}).commit()
    with h5py.File(tmp_path / "x.h5") as file:
        np.testing.assert_array_equal(file["a"], array)
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "x.zarr", mode="r")["a"], array)


@settings(max_examples=150, deadline=None)
@given(
    array=hnp.arrays(np.int32, hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=9)),
    chunks=st.lists(st.integers(1, 5), min_size=3, max_size=3),
    cuts=st.lists(st.integers(0, 9), max_size=3),
    order=st.randoms(use_true_random=False),
)
def test_regions_in_any_order(tmp_path_factory: Any, array: Any, chunks: Any, cuts: Any, order: Any) -> None:
    path = tmp_path_factory.mktemp("regions") / "x.tet"
    edges = [sorted({0, extent, *(cut for cut in cuts if cut < extent)}) for extent in array.shape]
    keys = [()]
    for along in edges:
        keys = [(*key, slice(a, b)) for key in keys for a, b in zip(along, along[1:], strict=False)]
    order.shuffle(keys)
    with tetfile.create(path, codec="zstd") as out:
        out["a"] = tetfile.Spec(array.shape, array.dtype, chunks=chunks[: array.ndim])
        for key in keys:
            out["a"][key] = array[key]
    np.testing.assert_array_equal(tetfile.open(path)["a"][...], array)


def test_threads_write_the_same_file_as_one(tmp_path: Path) -> None:
    """Blocks of 3 rows against chunks of 4: each chunk is of several threads."""
    array = np.random.default_rng(1).random((97, 64, 32))
    spec = tetfile.Spec(array.shape, array.dtype, chunks=(4, 64, 16))
    keys = [slice(at, min(at + 3, 97)) for at in range(0, 97, 3)]
    for name, count in [("1.tet", 1), ("n.tet", 16)]:
        with tetfile.create(tmp_path / name, {"a": spec}, codec="zstd") as out, ThreadPoolExecutor(count) as pool:
            list(pool.map(lambda key, out=out: out["a"].__setitem__(key, array[key]), keys))
    one, many = (tetfile.open(tmp_path / name) for name in ["1.tet", "n.tet"])
    np.testing.assert_array_equal(one["a"][...], array)
    np.testing.assert_array_equal(many["a"][...], array)
    assert os.path.getsize(one.path) == os.path.getsize(many.path)


def test_blocks_of_an_iterator(tmp_path: Path) -> None:
    blocks = [np.full((count, 4), count, "f4") for count in (3, 1, 5, 2)]
    with tetfile.create(tmp_path / "x.tet") as out:
        out["a"] = iter(blocks)
        out["b"] = (np.arange(1000) + at for at in range(0, 10_000, 1000))
    with tetfile.open(tmp_path / "x.tet") as file:
        np.testing.assert_array_equal(file["a"][...], np.concatenate(blocks))
        np.testing.assert_array_equal(file["b"][...], np.arange(10_000))


def test_keys_and_values_follow_numpy(tmp_path: Path) -> None:
    wanted = np.zeros((3, 4), "i2")
    with tetfile.create(tmp_path / "x.tet", {"a": tetfile.Spec((3, 4), "i2", fill=0)}) as out:
        for key, value in [((0,), 1), ((..., -1), [7, 8, 9]), ((slice(1, 3), slice(0, 2)), [[1, 2], [3, 4]]), (-1, [5, 6, 7, 8])]:
            out["a"][key] = value
            wanted[key] = value
    np.testing.assert_array_equal(tetfile.open(tmp_path / "x.tet")["a"][...], wanted)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    out = tetfile.create(tmp_path / "x.tet", {"a": tetfile.Spec((3, 4), "i2", fill=0)})
    with pytest.raises(OverflowError, match="'a' is of int16"):
        out["a"][0] = 70_000
    with pytest.raises(OverflowError):
        out["a"][0] = 1.5
    with pytest.raises(ValueError, match="broadcast"):
        out["a"][0] = [1, 2, 3]
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        out["a"][3] = 0
    with pytest.raises(IndexError, match="stop 5 is out of range for axis 1"):
        out["a"][:, 2:5] = 0
    with pytest.raises(tetfile.UsageError, match="without steps"):
        out["a"][::2] = 0
    with pytest.raises(tetfile.UsageError, match="by integers and slices"):
        out["a"][[0, 1]] = 0
    with pytest.raises(tetfile.UsageError, match="'a' is there already"):
        out["a"] = np.zeros(3)
    with pytest.raises(tetfile.UnsupportedError, match="texts can be the labels of an axis"):
        out["words"] = np.array(["a", "b"])
    with pytest.raises(tetfile.UsageError, match="give one positive extent for each axis"):
        tetfile.Spec((3, 4), "f4", chunks=(3,))
    with pytest.raises(KeyError, match="no dataset 'b' is written"):
        out["b"]
    out.discard()
    with pytest.raises(ValueError, match="written already, or given up"):
        out.commit()
    assert os.listdir(tmp_path) == []


def test_nothing_is_there_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    with pytest.raises(RuntimeError, match="stop"), tetfile.create(path) as out:
        out["a"] = np.zeros(1_000_000)
        assert os.listdir(tmp_path) == []
        raise RuntimeError("stop")
    assert os.listdir(tmp_path) == []
    with pytest.raises(tetfile.UsageError, match=r'3 chunks are not written: \[1\] of "a"'):
        with tetfile.create(path, {"a": tetfile.Spec((4,), "i4", chunks=(1,))}) as out:
            out["a"][0] = 1
    assert os.listdir(tmp_path) == []


def test_a_file_that_exists_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    tetfile.create(path, {"a": np.zeros(3)}).commit()
    with pytest.raises(FileExistsError):
        tetfile.create(path)
    late = tmp_path / "late.tet"
    out = tetfile.create(late, {"a": np.ones(3)})
    late.write_bytes(b"someone else's")
    with pytest.raises(FileExistsError):
        out.commit()
    assert late.read_bytes() == b"someone else's"
    before = path.read_bytes()
    with pytest.raises(RuntimeError), tetfile.create(path, overwrite=True) as out:
        out["b"] = np.ones(3)
        raise RuntimeError
    assert path.read_bytes() == before
    tetfile.create(path, {"b": np.ones(3)}, overwrite=True).commit()
    assert list(tetfile.open(path)) == ["b"]
    with pytest.raises(FileNotFoundError):
        tetfile.create(tmp_path / "no folder" / "x.tet")


def test_a_process_that_is_killed_leaves_the_old_file(tmp_path: Path) -> None:
    """At random moments of writing 32 MiB over a file."""
    path = tmp_path / "x.tet"
    program = """
        import sys, numpy as np, tetfile
        print("begun", flush=True)
        with tetfile.create(sys.argv[1], overwrite=True) as out:
            for nth in range(16):
                out[f"a{nth}"] = np.full(1 << 18, float(nth))
    """
    outcomes = set()
    for nth in range(12):
        tetfile.create(path, {"a": np.zeros(10)}, overwrite=True).commit()
        old = path.read_bytes()
        with running(program, path) as child:
            assert child.stdout is not None
            child.stdout.readline()
            try:
                child.wait(timeout=0.01 * nth)
            except subprocess.TimeoutExpired:
                child.kill()
        with tetfile.open(path) as file:
            outcomes.add(len(file))
            assert tetfile.verify(path).ok
            assert len(file) == 16 or path.read_bytes() == old
    assert 1 in outcomes, "none was killed before its end"


def test_memory_of_incomplete_chunks_is_bounded(tmp_path: Path) -> None:
    with tetfile.create(tmp_path / "x.tet", memory=1 << 20) as out:
        out["a"] = tetfile.Spec((64, 1 << 16), "u1", chunks=(64, 1 << 14), fill=0)
        with pytest.raises(tetfile.LimitError, match="write regions that cover whole chunks"):
            out["a"][0] = 1
            out["b"] = tetfile.Spec((64, 1 << 16), "u1", chunks=(64, 1 << 14), fill=0)
            out["b"][0] = 1


def test_metadata_is_read_back(tmp_path: Path) -> None:
    attrs = {"title": "Größe", "n": np.float32(2.5), "list": [1, 2], "map": {"a": None}, "nan": float("nan")}
    spec = tetfile.Spec((2, 3), "f4", dims=("y", "x"), labels={"x": ["a", "b", "c"]}, attrs=attrs)
    with tetfile.create(tmp_path / "x.tet", attrs={"source": "test"}) as out:
        out["a"] = spec
        out["a"][...] = 1
    with tetfile.open(tmp_path / "x.tet") as file:
        assert file.attrs["source"] == "test"
        assert file["a"].dims == ("y", "x")
        assert file["a"].sel(x="b").shape == (2,)
        assert file["a"].attrs == {"title": "Größe", "n": 2.5, "list": [1, 2], "map": {"a": None}, "nan": "NaN"}


def test_times_are_stored_with_their_unit(tmp_path: Path) -> None:
    times = np.array(["2024-01-01", "NaT", "2024-03-01"], "M8[s]")
    with tetfile.create(tmp_path / "x.tet") as out:
        out["time"] = times
    found = xarray.open_dataset(tmp_path / "x.tet", engine="tet")["time"]
    np.testing.assert_array_equal(found.values.astype("M8[s]"), times)


def test_arrays_of_xarray_bring_their_coordinates(tmp_path: Path) -> None:
    array = xarray.DataArray(np.arange(6.0).reshape(2, 3), {"y": [10, 20], "x": ["a", "b", "c"]}, name="t", attrs={"units": "K"})
    with tetfile.create(tmp_path / "x.tet") as out:
        out["t"] = array
    found = xarray.open_dataset(tmp_path / "x.tet", engine="tet")["t"].load()
    xarray.testing.assert_identical(found.astype(float), array.assign_coords(x=array["x"].astype(object)))


def test_datasets_of_files_are_copied_chunk_by_chunk(tmp_path: Path, files: Path) -> None:
    packed = xarray.Dataset({"t": ("x", np.linspace(0, 1, 50).round(2), {"units": "K"})})
    packed.to_netcdf(tmp_path / "packed.nc", encoding={"t": {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -1}})
    with tetfile.open(files / "climate.nc") as file, tetfile.create(tmp_path / "x.tet") as out:
        out["temp"] = file["temp"]
        tetfile.create(tmp_path / "part.tet", {"part": file["temp"].isel(lat=[2, 0], lon=slice(None, None, -2))}).commit()
        out["raw"] = tetfile.open(tmp_path / "packed.nc")["t"]
        out["decoded"] = tetfile.open(tmp_path / "packed.nc", decoded=True)["t"]
    with tetfile.open(files / "climate.nc") as file, tetfile.open(tmp_path / "x.tet") as found:
        temp = file["temp"][...]
        np.testing.assert_array_equal(found["temp"][...], temp)
        assert found["temp"].dims == ("time", "lat", "lon") and found["temp"].attrs["units"] == "K"
        assert found["temp"].chunks == file["temp"].chunks
        part = tetfile.open(tmp_path / "part.tet")["part"]
        np.testing.assert_array_equal(part[...], temp[:, [2, 0], ::-2])
    again = xarray.open_dataset(tmp_path / "x.tet", engine="tet")
    np.testing.assert_allclose(again["raw"], packed["t"])
    np.testing.assert_allclose(again["decoded"], packed["t"])
    assert again["decoded"].attrs == {"units": "K"}


def test_progress_counts_the_elements(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    out = tetfile.create(tmp_path / "x.tet", {"a": np.zeros(1 << 20)})
    out.commit(progress=lambda done, of: calls.append((done, of)))
    assert calls[-1] == (8 << 20, 8 << 20)


def test_attributes_are_set_while_a_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "x.tet"
    spec = tetfile.Spec((2,), "int16", attrs={"units": "m"})
    with tetfile.create(path, attrs={"title": "Waves"}) as out:
        out["a"] = np.arange(3.0)
        out["b"], out["c"] = spec, spec
        out["b"][...] = out["c"][...] = 1
        out["g/x"] = [1, 2]
        out.attrs["source"] = "buoy"
        out.attrs["g/source"] = "ship"
        del out.attrs["title"]
        out["a"].attrs.update(units="K", valid_range=np.array([0, 1], "i2"), names=["x", "y"])
        out["b"].attrs["units"] = "km"
        assert out["a"].attrs["units"] == "K" and dict(out["c"].attrs) == {"units": "m"} and spec.attrs == {"units": "m"}
        with pytest.raises(tetfile.UsageError, match="the attribute 'when' of type set is not written"):
            out["a"].attrs["when"] = {1}
        with pytest.raises(TypeError, match="is text, not int"):
            out["a"].attrs[1] = 2  # type: ignore[index]
        with pytest.raises(KeyError):
            del out["a"].attrs["nothing"]
        with pytest.raises(tetfile.NotFoundError, match=r"'g' is a group: .* attrs\['g/source'\]"):
            out["g"].attrs["source"] = "ship"
    with pytest.raises(ValueError, match="written already"):
        out["a"].attrs["late"] = 1
    with pytest.raises(ValueError, match="written already"):
        out.attrs["late"] = 1
    with tetfile.open(path) as file:
        assert file.attrs == {"source": "buoy"} and file["g"].attrs == {"source": "ship"}
        assert file["a"].attrs["units"] == "K" and file["a"].attrs["names"] == ["x", "y"]
        assert file["a"].attrs["valid_range"].tolist() == [0, 1]
        assert file["b"].attrs == {"units": "km"} and file["c"].attrs == {"units": "m"}
    with tetfile.create(tmp_path / "x.nc") as other:
        other["a"] = np.arange(3.0)
        other["a"].attrs["units"] = "K"
    assert netCDF4.Dataset(tmp_path / "x.nc")["a"].units == "K"


def test_attributes_by_which_elements_are_stored_stay(tmp_path: Path) -> None:
    days = np.array(["2024-01-01", "2024-01-02"], "M8[ns]")
    units = "days since 2000-01-01"
    with tetfile.create(tmp_path / "x.tet") as out:
        out["dates"] = days
        out["days"] = tetfile.Spec((2,), "int32", attrs={"units": units})
        out["days"][...] = days
        out["masked"] = np.ma.masked_array([1, 2], mask=[False, True])
        out["late"] = tetfile.Spec((2,), "int32")
        out["late"].attrs["units"] = units
        out["late"][...] = days
        for name, key, value in [
            ("dates", "units", units),
            ("dates", "_FillValue", 0),
            ("days", "units", "hours since 2000-01-01"),
            ("days", "calendar", "noleap"),
            ("masked", "_FillValue", 0),
        ]:
            with pytest.raises(tetfile.UsageError, match=f"'{name}' has elements that are stored by its {key}"):
                out[name].attrs[key] = value
        with pytest.raises(tetfile.UsageError, match="'masked' has elements"):
            del out["masked"].attrs["_FillValue"]
        out["days"].attrs["units"] = units
        out["days"].attrs["_FillValue"] = -1
    with xarray.open_dataset(tmp_path / "x.tet", mask_and_scale=False) as found:
        assert (found["dates"].values == days).all() and (found["late"].values == days).all()


def test_attributes_of_a_plan_are_those_of_its_specs(tmp_path: Path) -> None:
    plan = tetfile.plan(tmp_path / "x.tet", {"x": tetfile.Spec((2,), "int32", attrs={"units": "m"})})
    with plan.part() as part:
        assert part["x"].attrs == {"units": "m"}
        with pytest.raises(TypeError, match=r"tetfile.Spec\(shape, dtype, attrs="):
            part["x"].attrs["units"] = "km"
        part["x"][...] = 1
    plan.publish()


@pytest.mark.parametrize(
    "texts",
    [
        np.array(["a", "bc"]),
        np.array([b"a", b"bc"]),
        np.array(["a", "bc"], dtype=object),
        np.array(["a", "bc"], dtype=np.dtypes.StringDType()),
        ["a", "bc"],
        "abc",
        lambda: iter([np.array(["a", "bc"])]),
    ],
)
@pytest.mark.parametrize("suffix", ["tet", "nc"])
def test_texts_are_refused_where_they_are_assigned(texts: Any, suffix: str, tmp_path: Path) -> None:
    with tetfile.create(tmp_path / f"x.{suffix}") as out:
        with pytest.raises(tetfile.UnsupportedError, match=r"dataset 'name': .tet files have no elements of .*labels=.*attrs=.*xarray") as caught:
            out["name"] = texts() if callable(texts) else texts
        assert caught.value.dataset == "name" and "name" not in out
        out["x"] = tetfile.Spec((2,), "f4", dims=("station",), labels={"station": ["a", "bc"]}, attrs={"names": ["a", "bc"]})
        out["x"][...] = 0
    with tetfile.open(tmp_path / f"x.{suffix}") as file:
        assert list(file["x"].attrs["names"]) == ["a", "bc"] and file["x"].labels("station").tolist() == ["a", "bc"]


@pytest.mark.parametrize(
    ("shape", "how", "why"),
    [
        ((3,), {"dims": ("x",), "labels": {"x": ["a"]}}, "axis 'x' has 1 labels and 3 positions"),
        ((3,), {"labels": {0: ["a", "b", "c", "d"]}}, "axis 0 has 4 labels and 3 positions"),
        ((3,), {"dims": ("x",), "labels": {"x": "abc"}}, "has one text and 3 positions"),
        ((3,), {"dims": ("x",), "labels": {"y": ["a", "b", "c"]}}, r"labels are of axis 'y', and the axes are \('x',\)"),
        ((3,), {"labels": {1: ["a", "b", "c"]}}, r"labels are of axis 1, and the axes are \(0,\)"),
        ((3,), {"labels": "abc"}, "labels is a mapping"),
        ((2, -1), {}, "negative extent"),
        ((2.5,), {}, "'float' object cannot be interpreted as an integer"),
        ((3, 3), {"dims": "xy"}, r"dims \('xy',\) do not fit"),
    ],
)
def test_a_spec_fits_itself(shape: Any, how: dict[str, Any], why: str) -> None:
    with pytest.raises((TypeError, tetfile.UsageError), match=why):
        tetfile.Spec(shape, "f4", **how)


def test_a_spec_of_one_axis_takes_one_number(tmp_path: Path) -> None:
    spec = tetfile.Spec(np.int64(3), "f4", chunks=2, dims="x", labels={"x": np.array(["a", "b", "c"])})
    assert (spec.shape, spec.chunks, spec.dims) == ((3,), (2,), ("x",))
    with tetfile.create(tmp_path / "x.tet", {"a": spec}) as out:
        with pytest.raises(ValueError, match=r"elements of shape \(2,\) into a region of shape \(3,\) of 'a'"):
            out["a"][...] = [1, 2]
        out["a"][...] = 1
