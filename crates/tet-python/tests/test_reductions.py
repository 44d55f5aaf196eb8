"""Reductions are those of NumPy, for every axis, with and without NaN."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tetfile

DTYPES = ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "?"]


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> tuple[tetfile.File, dict[str, np.ndarray[Any, Any]]]:
    random = np.random.default_rng(3)
    held = {}
    for dtype in DTYPES:
        held[dtype] = random.integers(0, 2 if dtype == "?" else 100, (7, 5, 6)).astype(dtype)
    holes = random.normal(size=(7, 5, 6))
    holes[random.random(holes.shape) < 0.2] = np.nan
    holes[:, 2, 3] = np.nan
    held["nan"] = holes
    held["one"] = random.normal(size=11)
    held["wide"] = np.array([[2**64 - 1, 2**63], [3, 5]], dtype="u8")
    held["none"] = np.zeros((0, 4))
    held["point"] = np.array(2.5)
    path = tmp_path_factory.mktemp("reduce") / "x.h5"
    with h5py.File(path, "w") as out:
        for name, array in held.items():
            out.create_dataset(name, data=array, chunks=(3, 2, 4) if array.ndim == 3 else None)
    return tetfile.open(path), held


def _axes(rank: int) -> list[Any]:
    some = [axes for count in range(1, rank + 1) for axes in combinations(range(rank), count)]
    return [None, -1, *(axes if len(axes) > 1 else axes[0] for axes in some)]


def _close(found: Any, wanted: Any, what: str) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, what
    assert np.allclose(found.astype("f8"), wanted.astype("f8"), rtol=1e-12, equal_nan=True), what


WIDE = {"sum", "mean", "var", "std", "prod", "median"}


@pytest.mark.parametrize("op", ["sum", "mean", "min", "max", "var", "std", "median"])
def test_reductions_are_those_of_numpy(op: str, arrays: Any) -> None:
    f, held = arrays
    for name in [*DTYPES, "nan", "one"]:
        array = held[name].astype("f8") if op in WIDE else held[name]
        for axis in _axes(array.ndim):
            for keepdims in (False, True):
                with np.errstate(all="ignore"):
                    wanted = getattr(np, op)(array, axis=axis, keepdims=keepdims)
                found = getattr(f[name], op)(axis, keepdims=keepdims)
                _close(found, wanted, f"{op} of {name} over {axis}")
                if op in ("min", "max"):
                    assert np.asarray(found).dtype == held[name].dtype


@pytest.mark.parametrize("op", ["sum", "mean", "min", "max", "var", "std", "median"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_is_skipped_where_that_is_asked_for(op: str, arrays: Any) -> None:
    f, held = arrays
    for axis in _axes(3):
        wanted = getattr(np, f"nan{op}")(held["nan"], axis=axis)
        _close(getattr(f["nan"], op)(axis, skipna=True), wanted, f"{op} over {axis}")


@pytest.mark.parametrize("op", ["argmin", "argmax"])
def test_places_of_extrema_are_those_of_numpy(op: str, arrays: Any) -> None:
    f, held = arrays
    for name in [*DTYPES, "nan", "one"]:
        for axis in [None, *range(held[name].ndim)]:
            wanted = getattr(np, op)(held[name], axis=axis)
            _close(getattr(f[name], op)(axis), wanted, f"{op} of {name} over {axis}")


def test_counts_and_truths_are_those_of_numpy(arrays: Any) -> None:
    f, held = arrays
    for name in [*DTYPES, "nan", "one", "none", "point"]:
        array = held[name]
        for axis in _axes(array.ndim) if array.ndim else [None]:
            _close(f[name].count_nonzero(axis), np.count_nonzero(array, axis=axis), name)
            assert np.array_equal(f[name].any(axis), array.any(axis=axis)), name
            assert np.array_equal(f[name].all(axis), array.all(axis=axis)), (name, axis)
            present = np.count_nonzero(~np.isnan(array), axis=axis)
            _close(f[name].count(axis), present, name)


def test_quantiles_are_those_of_numpy(arrays: Any) -> None:
    f, held = arrays
    for name in ["f4", "i2", "nan", "one"]:
        array = held[name].astype("f8")
        for axis in _axes(array.ndim):
            for q in (0.3, [0.0, 0.25, 1.0], [0.5]):
                for keepdims in (False, True):
                    wanted = np.quantile(array, q, axis=axis, keepdims=keepdims)
                    _close(f[name].quantile(q, axis, keepdims=keepdims), wanted, f"{q} of {name} over {axis}")


def test_freedom_and_products(arrays: Any) -> None:
    f, held = arrays
    for ddof in (0, 1, 2):
        _close(f["one"].var(ddof=ddof), held["one"].var(ddof=ddof), "var")
        _close(f["f4"].std(1, ddof=ddof), held["f4"].astype("f8").std(axis=1, ddof=ddof), "std")
    _close(f["one"].prod(), held["one"].prod(), "prod")
    assert f["i8"].prod(2)[0, 0] == int(np.prod(held["i8"][0, 0], dtype=object))


def test_integers_are_exact(arrays: Any) -> None:
    f, held = arrays
    assert f["u8"].sum().dtype == np.int64
    assert f["i1"].sum() == held["i1"].sum(dtype=object)
    # Above 63 bits they are unsigned, and above 64 bits they are Python's.
    assert f["wide"].sum(1)[0] == 2**64 - 1 + 2**63 and f["wide"].sum(1).dtype == object
    assert f["wide"].max() == 2**64 - 1 and f["wide"].max().dtype == np.uint64
    one = tetfile.Dataset(f, tetfile._tetfile.select(f["wide"]._core, [0, (1, 1, 1)]))
    assert one.sum() == 2**63 and one.sum().dtype == np.uint64
    assert f["wide"].sum() == 2**64 - 1 + 2**63 + 8


def test_histograms_are_those_of_numpy(arrays: Any) -> None:
    f, held = arrays
    for bins, limits in [(10, None), (7, (-1.0, 1.0)), (1, (0.0, 50.0))]:
        counts, edges = np.histogram(held["one"], bins, limits)
        found = f["one"].histogram(bins, limits)
        assert np.array_equal(found[0], counts)
        assert np.allclose(found[1], edges)


def test_weights_are_multiplied_along_their_axes(arrays: Any) -> None:
    f, held = arrays
    random = np.random.default_rng(1)
    first, last = random.random(7), random.random(6)
    for name in ("f4", "i2", "nan"):
        array = held[name].astype("f8")
        for skipna in (False, True):
            real = np.ma.masked_invalid(array) if skipna else array
            for weights, axis in [({0: first}, None), ({0: first}, 0), ({-1: last, 0: first}, (0, 2)), ({2: last}, (1, 2))]:
                full = np.ones(array.shape)
                for at, of in weights.items():
                    along = [1, 1, 1]
                    along[at] = -1
                    full = full * of.reshape(along)
                average = np.ma.average if skipna else np.average
                wanted = average(real, axis=axis, weights=full)
                wanted = np.ma.filled(wanted, np.nan) if skipna else wanted
                _close(f[name].mean(axis, weights=weights, skipna=skipna), wanted, f"{name} {axis} {skipna}")
    with pytest.raises(ValueError, match="weights of shape"):
        f["f4"].mean(weights={0: last})
    with pytest.raises(ValueError, match="not reduced"):
        f["f4"].mean(1, weights={0: first})


def test_nothing_has_no_extremum(arrays: Any) -> None:
    f, held = arrays
    for op in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError):
            getattr(np, op)(held["none"])
        with pytest.raises(ValueError):
            getattr(f["none"], op)()
    assert f["none"].sum() == 0
    assert np.isnan(f["none"].mean())
    assert f["point"].sum() == 2.5 and f["point"].max() == 2.5


def test_wrong_axes_are_refused_as_by_numpy(arrays: Any) -> None:
    f, _ = arrays
    with pytest.raises(np.exceptions.AxisError):
        f["f4"].sum(3)
    with pytest.raises(ValueError, match="duplicate"):
        f["f4"].sum((0, -3))
    with pytest.raises(KeyError):
        f["f4"].sum(dim="time")
    with pytest.raises(TypeError):
        f["f4"].sum(0, dim="time")


def test_parts_are_reduced_as_parts(arrays: Any) -> None:
    f, held = arrays
    key = (slice(1, 7, 2), 3, slice(0, 5))
    view = tetfile.Dataset(f, tetfile._tetfile.select(f["f8"]._core, [(1, 3, 2), 3, (0, 5, 1)]))
    array = held["f8"][key]
    for axis in _axes(2):
        _close(view.mean(axis), array.mean(axis=axis), f"mean over {axis}")
        _close(view.max(axis, keepdims=True), array.max(axis=axis, keepdims=True), f"max over {axis}")
    _close(view.argmax(), array.argmax(), "argmax")


TESTS: list[tuple[Any, Any]] = [
    ("> 30", lambda x: x > 30),
    (">=10,<60", lambda x: (x >= 10) & (x < 60)),
    ("ne 5", lambda x: x != 5),
    ({"le": 50}, lambda x: x <= 50),
    ("= 7", lambda x: x == 7),
]


@pytest.mark.parametrize("where", TESTS, ids=lambda where: str(where[0]))
def test_a_test_leaves_out_elements_as_in_numpy(where: Any, arrays: Any) -> None:
    f, held = arrays
    test, passes = where
    for name in ("f4", "i2", "u8"):
        array = held[name].astype("f8")
        mask = passes(array)
        for axis in _axes(3):
            _close(f[name].sum(axis, where=test), array.sum(axis=axis, where=mask), f"{name} {axis}")
            _close(f[name].count(axis, where=test), np.count_nonzero(mask, axis=axis), f"{name} {axis}")
            assert np.array_equal(f[name].any(axis, where=test), array.any(axis=axis, where=mask)), axis
            assert np.array_equal(f[name].all(axis, where=test), array.all(axis=axis, where=mask)), axis
        assert f[name].max(where=test) == array.max(where=mask, initial=-1)
        weights = np.arange(1.0, 8.0)
        wanted = (array * weights[:, None, None] * mask).sum() / (mask * weights[:, None, None]).sum()
        _close(f[name].mean(weights={0: weights}, where=test), wanted, name)
    counts, _ = f["f8"].histogram(5, (0.0, 100.0), where=test)
    assert counts.sum() == np.count_nonzero(passes(held["f8"]))


def test_tests_that_are_none_are_refused(arrays: Any) -> None:
    f, _ = arrays
    for wrong in ["", "about 3", "> x", "> 1, > 2", "3", {"over": 3}]:
        with pytest.raises(tetfile.UsageError):
            f["f4"].sum(where=wrong)
    assert np.isnan(f["f4"].mean(where="> 1000"))
    with pytest.raises(ValueError, match="no elements"):
        f["i4"].max(where="> 1000")


def test_results_carry_the_labels_of_their_axes(files: Path) -> None:
    import pandas
    import xarray

    with xarray.open_dataset(files / "climate.nc") as theirs, tetfile.open(files / "climate.nc", decoded=True) as f:
        temp, wanted = f["temp"], theirs["temp"].astype("f8")
        for op in ("mean", "sum", "std", "max", "count"):
            for dim in ["time", ["lat", "lon"], None, "lon"]:
                answer = temp.reduce(op, dim=dim)
                mine, its = answer.to_xarray(), getattr(wanted, op)(dim)
                assert mine.name == "temp"
                xarray.testing.assert_allclose(mine.drop_attrs(), its.drop_attrs())
                pandas.testing.assert_index_equal(pandas.Index(mine.dims), pandas.Index(its.dims))
        by_month = temp.reduce("mean", dim=["lat", "lon"]).to_pandas()
        pandas.testing.assert_series_equal(by_month, wanted.mean(["lat", "lon"]).to_series(), check_freq=False)
        table = temp.sel(lat=[30, 0]).reduce("max", dim="time").to_pandas()
        assert list(table.index) == [30, 0] and table.loc[30, 45.0] == wanted.max("time").sel(lat=30, lon=45)
        assert temp.reduce("max").to_pandas() == wanted.max()
        cube = temp.reduce("quantile", dim="time", q=[0.1, 0.9])
        assert cube.dims == ("quantiles", "lat", "lon") and cube.to_pandas().loc[0.9, 10.0, 45.0] == cube.values[1, 1, 1]
        assert temp.reduce("min", 0, keepdims=True).to_xarray().shape == (1, 4, 8)
        with pytest.raises(tetfile.UsageError, match="no reduction"):
            temp.reduce("average")


def test_answers_of_documents_carry_labels(files: Path) -> None:
    with tetfile.open(files / "climate.nc") as f:
        document = {"dataset": "temp", "selection": {"lat": {"start": 1}}, "mean": ["time", "lon"]}
        assert list(f.query(document).labels["lat"]) == [10, 20, 30]
        picked = {"dataset": "temp", "label_filter": {"axis": "lat", "eq": "20"}, "max": ["time", "lon"]}
        assert f.query(picked).to_xarray().coords["lat"].values.tolist() == [20]
        values = f.query({"dataset": "temp", "selection": {"time": {"index": 2}}}).to_xarray()
        assert values.dims == ("lat", "lon") and values.sel(lat=10, lon=45).item() == f["temp"][2, 1, 1]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "std", "var", "prod", "any", "all", "argmax", "argmin", "median", "ptp"])
def test_functions_of_numpy_reduce_datasets(name: str, tmp_path: Path) -> None:
    array = np.random.default_rng(5).random((4, 5))
    tetfile.create(tmp_path / "x.tet", {"x": array}).commit()
    dataset, function = tetfile.open(tmp_path / "x.tet")["x"], getattr(np, name)
    for axis in (None, 0, 1):
        np.testing.assert_allclose(function(dataset, axis=axis), function(array, axis=axis), rtol=1e-14)
    if name in ("sum", "mean", "std", "prod"):
        assert function(dataset, dtype="f4").dtype == np.float32
    if name in ("sum", "std"):
        assert function(dataset, axis=1, keepdims=True).shape == (4, 1)
        with pytest.raises(TypeError, match="writes to no array"):
            function(dataset, axis=1, out=np.empty(4))


def test_the_first_argument_may_name_axes(files: Path) -> None:
    temp = tetfile.open(files / "climate.nc")["temp"]
    assert np.array_equal(temp.mean("time"), temp.mean(dim="time"))
    assert np.array_equal(temp.max(["time", "lon"]), temp.max(axis=(0, 2)))
    assert np.array_equal(temp.sum(("lat", 2)), temp.sum(axis=(1, 2)))
    with pytest.raises(tetfile.NotFoundError):
        temp.mean("depth")


def test_latitudes_that_count_alike_are_a_warning(tmp_path: Path) -> None:
    with tetfile.create(tmp_path / "t.nc") as out:
        out["lat"] = tetfile.Spec((3,), "f8", dims=("lat",), attrs={"units": "degrees_north"})
        out["lat"][...] = [-60.0, 0.0, 60.0]
        out["t"] = tetfile.Spec((2, 3), "f8", dims=("x", "lat"))
        out["t"][...] = np.arange(6.0).reshape(2, 3)
    f = tetfile.open(tmp_path / "t.nc")
    for reduce in (lambda t: t.mean(), lambda t: t.std(dim="lat"), lambda t: t.sum(1)):
        with pytest.warns(UserWarning, match="over lat counts all rows alike") as found:
            reduce(f["t"])
        assert [each.filename for each in found] == [__file__]
    with pytest.warns(UserWarning, match="t: the mean over lat counts all rows alike"):
        assert f.query({"dataset": "t", "mean": []}).values == 2.5
    # Warnings are errors in these tests.
    assert f["t"].max() == 5.0
    assert f["t"].mean("x").shape == (3,)
    assert f["t"].isel(lat=0).mean() == 1.5
    assert f["t"].mean(weights={"lat": np.array([1.0, 2.0, 1.0])}) == 2.5
