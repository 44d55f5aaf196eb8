"""Files as mappings, and questions about whole files."""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import dask.base
import h5py
import netCDF4
import numpy as np
import pytest
import tetfile
import xarray
import zarr


def test_a_file_is_a_mapping_of_its_datasets(files: Path) -> None:
    with tetfile.open(files / "groups.h5") as f:
        assert list(f) == ["ocean/deep/salt", "ocean/temp", "plain"]
        assert len(f) == 3 and dict(f.items()).keys() == f.keys()
        assert "plain" in f and "ocean" in f and "ocean/deep" in f and "oce" not in f and 3 not in f
        assert isinstance(f["ocean"], tetfile.Group) and isinstance(f["ocean"]["deep"]["salt"], tetfile.Dataset)
        assert f["ocean/deep"]["salt"].name == "ocean/deep/salt"
        assert list(f["ocean"]) == ["deep/salt", "temp"]
        assert f["/ocean/"].path == "ocean"
        assert f.keys("*/salt") == ["ocean/deep/salt"] and f.keys("[op]*") == list(f)
        assert f.get("nothing") is None
        for wrong in ("", "nothing", "ocean/x", "plain/x"):
            with pytest.raises(KeyError):
                f[wrong]
        with pytest.raises(TypeError):
            f[0]
        assert f.attrs == {} and f["ocean"].attrs == {"source": "buoys"} and f["ocean/deep"].attrs == {}


def test_names_of_weights_are_found_by_pattern(tmp_path: Path) -> None:
    import safetensors.numpy

    names = [f"layers.{n}.{part}.weight" for n in range(12) for part in ("attn", "mlp")]
    safetensors.numpy.save_file({name: np.zeros(3, "f4") for name in [*names, "head"]}, tmp_path / "m.safetensors")
    with tetfile.open(tmp_path / "m.safetensors") as f:
        assert sorted(f.keys("layers.*.weight")) == sorted(names)
        assert sorted(f.keys("layers.1?.mlp*")) == ["layers.10.mlp.weight", "layers.11.mlp.weight"]


def test_datasets_of_one_name_are_found_by_position(tmp_path: Path) -> None:
    for number in range(2):
        np.savez(tmp_path / f"{number}.npz", x=np.full(3, number), y=np.arange(2))
        tetfile.convert(tmp_path / f"{number}.npz", tmp_path / f"{number}.tgm")
    both = tmp_path / "both.tgm"
    both.write_bytes((tmp_path / "0.tgm").read_bytes() + (tmp_path / "1.tgm").read_bytes())
    with tetfile.open(both) as f:
        assert list(f) == ["#0", "#1", "#2", "#3"] and len(dict(f)) == 4
        assert [f[key].name for key in f] == ["x", "y", "x", "y"]
        assert np.array_equal(f["#2"][...], [1, 1, 1])
        assert np.array_equal(pickle.loads(pickle.dumps(f["#2"]))[...], [1, 1, 1])
        with pytest.raises(KeyError, match="#0, #2"):
            f["x"]
        assert "#2" in repr(f) and "#2" in f.tree()


def test_files_are_shown(files: Path) -> None:
    f = tetfile.open(files / "groups.h5")
    text = repr(f)
    assert "ocean/temp: float32 (2, 2)" in text and "3 datasets" in text
    assert "<table" in f._repr_html_() and "ocean/deep/salt" in f._repr_html_()
    view = tetfile.open(files / "climate.tet")["temp"].isel(time=0)
    assert "part of (12, 4, 8)" in repr(view)
    d = f["plain"]
    f.close()
    assert "closed" in repr(f) and "closed" in f._repr_html_() and "closed" in repr(d)
    with pytest.raises(ValueError, match="closed"):
        d[...]
    with pytest.raises(ValueError, match="closed"):
        list(f)
    f.close()


def test_names_of_files_are_escaped_in_html(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **{"<script>": np.arange(3)})
    f = tetfile.open(tmp_path / "x.npz")
    assert "<script>" not in f._repr_html_() and "&lt;script&gt;" in f._repr_html_()
    assert "<script>" not in f["<script>"]._repr_html_()


def test_pickles_open_the_same_file(files: Path) -> None:
    f = tetfile.open(files / "climate.tet", threads=1)
    again = pickle.loads(pickle.dumps(f))
    assert again.path == f.path and list(again) == list(f)
    part = f["temp"].isel(time=slice(2, 9, 3), lat=1)
    found = pickle.loads(pickle.dumps(part))
    assert found.dims == part.dims and np.array_equal(found[...], part[...])
    # One file for each process, however many datasets come over.
    assert pickle.loads(pickle.dumps(part)).file is found.file
    group = tetfile.open(files / "groups.h5")["ocean"]
    assert list(pickle.loads(pickle.dumps(group))) == list(group)


def test_a_file_that_changed_is_not_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(5))
    pickled = pickle.dumps(tetfile.open(path))
    np.save(path, np.arange(9))
    with pytest.raises(tetfile.ChangedError) as caught:
        pickle.loads(pickled)
    assert caught.value.path == str(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled)


def test_tokens_of_dask_follow_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(12).reshape(3, 4))
    token = dask.base.tokenize

    def of() -> tetfile.Dataset:
        return tetfile.open(path)["x"]

    assert token(of()) == token(of())
    assert token(of()) != token(tetfile.Dataset(of().file, tetfile._tetfile.select(of()._core, [0, (0, 4, 1)])))
    before = token(of())
    np.save(path, np.arange(20).reshape(4, 5))
    assert token(of()) != before


def test_documents_are_answered(files: Path) -> None:
    with tetfile.open(files / "climate.tet") as f:
        temp = f["temp"][...].astype("f8")
        answer = f.query({"dataset": "temp", "mean": ["time"]})
        assert answer.op == "mean" and answer.dims == ("lat", "lon") and answer.count == temp.size
        assert np.array_equal(np.asarray(answer), temp.mean(axis=0))
        assert answer.integrity == "verified"
        assert f.query('{"dataset": "temp", "max": []}').values == temp.max()
        values = f.query({"dataset": "temp", "selection": {"time": {"index": 3}}})
        assert values.op == "values" and values.dims == ("lat", "lon")
        assert np.array_equal(values.values, f["temp"][3])
        quantiles = f.query({"dataset": "temp", "quantile": {"q": [0.25, 0.75]}})
        assert "quantiles" in quantiles.dims and list(quantiles.labels["quantiles"]) == [0.25, 0.75]
        aligned = f.query({"dataset": "temp", "align": {"with": "lat", "axes": ["lat"]}})
        assert aligned.op == "align" and aligned.values is None and aligned.details["alignment"][0][-1]


def test_wrong_documents_show_the_place(files: Path) -> None:
    with tetfile.open(files / "climate.tet") as f:
        with pytest.raises(tetfile.UsageError, match="did you mean") as caught:
            f.query({"dataset": "temp", "maen": []})
        assert "^" in str(caught.value)
        with pytest.raises(KeyError):
            f.query({"dataset": "tmep"})
        with pytest.raises(tetfile.UsageError):
            f.query("{")


def test_plans_are_shown(files: Path) -> None:
    with tetfile.open(files / "climate.nc") as f:
        plan = f.explain({"dataset": "temp", "selection": {"time": {"index": 0}}})
        assert plan.chunk_count == 2 and plan.element_count == 32 and plan.read_count >= 1
        assert 0 < plan.read_len < (files / "climate.nc").stat().st_size
        assert f.explain({"dataset": "temp", "median": []}).passes[1] >= 1


def test_summaries_are_those_of_numpy(tmp_path: Path) -> None:
    values = np.array([1.5, np.nan, 3.0, np.inf, -2.0, 8.0])
    np.savez(tmp_path / "x.npz", x=values, n=np.arange(5, dtype="i2"), t=np.array(["a", "b"]))
    found = tetfile.open(tmp_path / "x.npz").stats()
    assert set(found) == {"x", "n"}
    assert (found["x"].count, found["x"].nan_count, found["x"].inf_count) == (6, 1, 1)
    assert found["x"].min == -2 and found["x"].max == np.inf
    assert found["n"].quartiles == (1, 2, 3) and found["n"].mean == 2 and found["n"].max.dtype == np.int16
    assert np.isclose(found["n"].std, np.arange(5).std())
    assert tetfile.open(tmp_path / "x.npz").stats("n", quartiles=False)["n"].quartiles is None


def test_checks_name_the_place(files: Path) -> None:
    report = tetfile.verify(files / "climate.tet")
    assert report and report.ok and report.integrity == "verified" and not report.findings
    assert report.dataset_count == 5 and report.file_len == (files / "climate.tet").stat().st_size
    broken = tetfile.verify(files / "broken.tet")
    assert not broken and broken.integrity == "mismatch"
    [finding] = [finding for finding in broken.findings if finding.severity == "error"]
    assert finding.dataset == "temp" and finding.chunk == (0, 0, 0) and finding.rule.startswith("TET-")
    assert tetfile.verify(files / "broken.tet", level="structure").ok
    with pytest.raises(tetfile.UnsupportedError):
        tetfile.verify(files / "notes.txt")
    with pytest.raises(ValueError, match="fast"):
        tetfile.verify(files / "climate.tet", level="fast")  # type: ignore[arg-type]


def test_others_read_what_is_converted(files: Path, tmp_path: Path) -> None:
    temp = tetfile.open(files / "climate.tet")["temp"][...]
    for suffix, how in [("h5", {"codec": "gzip"}), ("nc", {}), ("npz", {}), ("zarr", {"codec": "zstd"})]:
        path = tmp_path / f"out.{suffix}"
        with pytest.warns(UserWarning, match="dimension names") if suffix == "npz" else nullcontext():
            done = tetfile.convert(files / "climate.tet", path, **how)
        assert done.datasets[0] == "temp" and done.output_len > 0 and done.decoded_len >= temp.nbytes
        assert np.array_equal(_read(path), temp), suffix
    chunked = tmp_path / "chunked.h5"
    tetfile.convert(files / "climate.tet", chunked, include=["temp"], chunks=(5, 2, 8), compression_level=1, codec="gzip")
    with h5py.File(chunked) as out:
        assert out["temp"].chunks == (5, 2, 8) and out["temp"].compression == "gzip" and set(out) == {"temp", "time", "lat", "lon"}


def _read(path: Path) -> Any:
    match path.suffix:
        case ".h5":
            with h5py.File(path) as found:
                return found["temp"][...]
        case ".nc":
            with netCDF4.Dataset(path) as found:
                return np.asarray(found["temp"][...])
        case ".npz":
            return np.load(path)["temp"]
        case _:
            return zarr.open_group(path, mode="r")["temp"][...]


def test_outputs_are_not_replaced_unasked(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.h5"
    tetfile.convert(files / "climate.tet", path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError) as caught:
        tetfile.convert(files / "climate.tet", path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    tetfile.convert(files / "climate.tet", path, include=["lat"], overwrite=True)
    assert list(tetfile.open(path)) == ["lat"]
    for wrong in [{"include": ["nothing"]}, {"codec": "rar"}, {"chunks": "big"}]:
        with pytest.raises(ValueError):
            tetfile.convert(files / "climate.tet", tmp_path / "wrong.npz", **wrong)
    with pytest.raises(tetfile.UsageError):
        tetfile.convert(files / "climate.tet", tmp_path / "out.docx")


def test_a_dataset_as_xarray_has_it(files: Path) -> None:
    decoded = xarray.open_dataset(files / "climate.nc", decode_times=False)["temp"]
    found = tetfile.open(files / "climate.nc")["temp"].to_xarray()
    xarray.testing.assert_identical(found, decoded.load())
    assert np.array_equal(tetfile.open(files / "climate.nc")["temp"].values, found.values)
