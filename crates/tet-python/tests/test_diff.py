"""What differs between files, found as NumPy finds it."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tetfile


def both(tmp_path: Path, a: dict[str, Any], b: dict[str, Any], suffix: str = "npz") -> tuple[Path, Path]:
    paths = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    for path, arrays in zip(paths, (a, b), strict=True):
        np.savez(path, **arrays)
    return paths


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dtypes", ["f4 f4", "f8 f4", "f2 f8", "i8 i8", "i2 u8", "?  u1", "c8 c16", "u8 u8"])
@pytest.mark.parametrize("tolerance", [{}, {"rtol": 0.1}, {"atol": 1.5}, {"equal_nan": False}])
def test_elements_that_differ_are_those_of_numpy(
    tmp_path: Path, seed: int, dtypes: str, tolerance: dict[str, Any]
) -> None:
    rng = np.random.default_rng(seed)
    shape = (5, 1 + seed, 7)
    kinds = dtypes.split()
    a = rng.integers(0, 9, shape).astype(kinds[0])
    b = a.astype(kinds[1])
    places = rng.random(shape) < 0.2
    b[places] = rng.integers(0, 9, int(places.sum())).astype(kinds[1])
    if np.dtype(kinds[0]).kind in "fc":
        a[rng.random(shape) < 0.1] = np.nan
        b[rng.random(shape) < 0.1] = np.nan
    path_a, path_b = both(tmp_path, {"x": a}, {"x": b})
    found = tetfile.diff(path_a, path_b, **tolerance)
    how = {"rtol": 0.0, "atol": 0.0, "equal_nan": True} | tolerance
    wide = "c16" if np.dtype(kinds[0]).kind == "c" else "f8"
    differ = ~np.isclose(a.astype(wide), b.astype(wide), **how)
    if kinds[0] == kinds[1] and not differ.any():
        assert found.same and found.compared == 1
        return
    (one,) = found.datasets
    assert (one.dtype is not None) == (kinds[0] != kinds[1])
    assert one.count == a.size and one.differing == differ.sum()
    if differ.any():
        place = tuple(int(at) for at in np.argwhere(differ)[0])
        assert one.first is not None and one.first[0] == place
        np.testing.assert_equal(one.first[1], (a[place].item(), b[place].item()))
        apart = np.abs(a.astype(wide) - b.astype(wide))[differ]
        assert one.max_abs == (None if np.isnan(apart).all() else np.nanmax(apart))


def test_integers_differ_exactly(tmp_path: Path) -> None:
    a = np.array([2**63 + 1, 5], "u8")
    b = np.array([-(2**63), 5], "i8")
    found = tetfile.diff(*both(tmp_path, {"x": a}, {"x": b})).datasets[0]
    assert found.max_abs == 2**64 + 1 and found.first == ((0,), (2**63 + 1, -(2**63)))


def test_structure_and_attributes(tmp_path: Path) -> None:
    for name, units, extent in (("a", "K", 3), ("b", "degC", 4)):
        with tetfile.create(tmp_path / f"{name}.tet", attrs={"title": name, "same": 1}) as f:
            f["t"] = tetfile.Spec((extent,), "f4", dims=("x",), labels={"x": list("pqrs")[:extent]}, attrs={"units": units})
            f["t"][...] = np.zeros(extent)
            f["equal"] = np.arange(4)
            f[f"only_{name}"] = np.zeros(1)
    found = tetfile.diff(tmp_path / "a.tet", tmp_path / "b.tet")
    assert not found.same and found.compared == 2
    assert found.only == (["only_a"], ["only_b"]) and found.attrs == {"title": ("a", "b")}
    (one,) = found.datasets
    assert one.name == "t" and one.shape == ((3,), (4,)) and one.attrs == {"units": ("K", "degC")}
    assert one.labels == {"x": (3, None, "s")} and one.count is None and one.differing == 0 and one.why is None


def test_texts_differ(tmp_path: Path) -> None:
    a, b = np.array(["one", "two", "three"]), np.array(["one", "zwei", "three"])
    found = tetfile.diff(*both(tmp_path, {"x": a}, {"x": b})).datasets[0]
    assert found.differing == 1 and found.first == ((1,), ("two", "zwei")) and found.max_abs is None


def test_datasets_are_chosen_by_pattern(tmp_path: Path) -> None:
    zeros, ones = np.zeros(3), np.ones(3)
    paths = both(tmp_path, {"l.0.w": zeros, "l.1.w": zeros, "b": zeros}, {"l.0.w": zeros, "l.1.w": ones, "b": ones})
    assert [each.name for each in tetfile.diff(*paths, "l.*.w").datasets] == ["l.1.w"]
    assert tetfile.diff(*paths, ["l.0.w"]).same
    assert tetfile.diff(*paths, values=False).same
    with pytest.raises(tetfile.NotFoundError, match="no dataset 'x' in either file"):
        tetfile.diff(*paths, "x")
    with pytest.raises(tetfile.UsageError, match="0 or more"):
        tetfile.diff(*paths, rtol=-1)


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    found = tetfile.diff(*both(tmp_path, {"x": np.zeros(3)}, {"x": np.zeros(3, "i4")})).datasets[0]
    assert found.why is not None and "float64 and int32 are not compared" in found.why


def test_damaged_elements_are_said_of_their_dataset(files: Path) -> None:
    with tetfile.open(files / "climate.tet", digests="always") as f:
        found = tetfile.diff(f, files / "broken.tet")
    assert not found.datasets and not found.same
    assert list(found.not_compared) == ["temp"] and "its checksum does not match" in found.not_compared["temp"]


def test_a_missing_element_is_near_to_no_other(tmp_path: Path) -> None:
    import h5py

    for name, values in (("a", [0, 0, -1, -1]), ("b", [0, 1, 0, -1])):
        with h5py.File(tmp_path / f"{name}.h5", "w") as out:
            out["x"] = np.array(values, "i4")
            out["x"].attrs["_FillValue"] = np.int32(-1)
    found = tetfile.diff(tmp_path / "a.h5", tmp_path / "b.h5", atol=1).datasets[0]
    assert found.differing == 1 and found.first[0] == (2,) and np.isnan(found.first[1][0])
    found = tetfile.diff(tmp_path / "a.h5", tmp_path / "b.h5", atol=1, raw_values=True).datasets[0]
    assert found.differing == 1 and found.first == ((2,), (-1, 0))


def test_scalars_and_structures_are_compared_by_what_they_are(tmp_path: Path) -> None:
    import h5py

    np.savez(tmp_path / "s.npz", s=np.float64(3))
    tetfile.convert(tmp_path / "s.npz", tmp_path / "s.tet")
    assert tetfile.diff(tmp_path / "s.npz", tmp_path / "s.tet").same
    rows = np.zeros(3, [("t", "f8"), ("n", "i4")])
    for name in "ab":
        with h5py.File(tmp_path / f"{name}.h5", "w") as out:
            rows["n"][1] += 1
            out["rows"] = rows
            out["bytes"] = np.array([b"abcd", b"efgh" if name == "a" else b"efgi"], "V4")
    assert tetfile.diff(tmp_path / "a.h5", tmp_path / "a.h5").same
    found = {each.name: each for each in tetfile.diff(tmp_path / "a.h5", tmp_path / "b.h5").datasets}
    assert sorted(found) == ["bytes", "rows.n"] and found["rows.n"].max_abs == 1
    assert found["bytes"].block == 1 and found["bytes"].first == ((1,), (b"efgh", b"efgi"))


def test_what_was_not_compared_does_not_differ(tmp_path: Path) -> None:
    import h5py

    with h5py.File(tmp_path / "a.h5", "w") as out:
        out["lists"] = [1.0]
        lists = out.create_dataset("vary", (1,), dtype=h5py.vlen_dtype("i4"))
        lists[0] = [1, 2]
    found = tetfile.diff(tmp_path / "a.h5", tmp_path / "a.h5")
    assert not found.datasets and not found.same and "list of int32" in found.not_compared["vary"]


def test_equal_chunks_are_not_read(files: Path) -> None:
    same = tetfile.diff(files / "climate.tet", files / "climate.tet")
    assert same.same and same.integrity == "unchecked"
    with tetfile.open(files / "climate.tet") as f:
        found = tetfile.diff(f, files / "warmer.tet")
        assert found.datasets[0].skipped < f["temp"].size and not f.closed


def figures(a: Any, b: Any) -> tuple[float, float, float]:
    """RMS of the difference, relative L2 and cosine of the finite pairs, with sums that round once."""
    a, b = (np.asarray(it).astype("f8").ravel() for it in (a, b))
    a, b = (it[np.isfinite(a) & np.isfinite(b)] for it in (a, b))
    apart, left, right, both = (math.fsum(it) for it in ((a - b) ** 2, a * a, b * b, a * b))
    return (
        math.sqrt(apart / a.size),
        math.sqrt(apart) / math.sqrt(right),
        both / (math.sqrt(left) * math.sqrt(right)),
    )


def check_figures(each: Any, a: Any, b: Any) -> None:
    """All numbers of a difference of elements are those of NumPy."""
    assert (each.rms, each.relative_l2, each.cosine) == figures(a, b), each.name
    a, b = (np.asarray(it).astype("f8") for it in (a, b))
    is_finite = np.isfinite(a) & np.isfinite(b)
    assert each.differing == np.sum((a != b) & ~(np.isnan(a) & np.isnan(b))), each.name
    assert (each.measured, each.unmeasured) == (is_finite.sum(), np.sum((a != b) & ~is_finite)), each.name
    apart = np.where(is_finite, np.abs(a - b), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(is_finite & (a != b), apart / np.abs(b), 0)
    assert (each.max_abs, each.max_rel) == (apart.max(), relative.max()), each.name
    place = tuple(int(at) for at in np.unravel_index(np.argmax(apart), a.shape))
    assert each.worst is not None and each.first is not None
    assert each.worst[0] == place, each.name
    assert each.first[0] == tuple(int(at) for at in np.argwhere((a != b) & ~(np.isnan(a) & np.isnan(b)))[0]), each.name


def write_safetensors(path: Path, tensors: dict[str, tuple[str, Any]]) -> Path:
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        offsets = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def checkpoints(tmp_path: Path) -> tuple[dict[str, tuple[str, Any]], dict[str, tuple[str, Any]]]:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(3)
    kinds = {"F32": "f4", "F16": "f2", "BF16": ml_dtypes.bfloat16, "F8_E4M3": ml_dtypes.float8_e4m3fn}
    kinds["F8_E5M2"] = ml_dtypes.float8_e5m2
    old, new = {}, {}
    for nth, (dtype, kind) in enumerate(kinds.items()):
        values = rng.normal(size=(37, 11)).astype("f4")
        old[f"w{nth}"] = (dtype, values.astype(kind))
        new[f"w{nth}"] = (dtype, (values + 0.02 * (nth + 1) * rng.normal(size=values.shape)).astype(kind))
    new["w0"][1][3, 4] = np.nan
    return old, new


def test_changes_of_checkpoints_are_those_of_numpy(tmp_path: Path) -> None:
    old, new = checkpoints(tmp_path)
    path = write_safetensors(tmp_path / "old.safetensors", old)
    other = write_safetensors(tmp_path / "new.safetensors", new)
    assert tetfile.diff(path, path).same
    found = {each.name: each for each in tetfile.diff(path, other).datasets}
    assert list(found) == list(old)
    for name, each in found.items():
        check_figures(each, old[name][1], new[name][1])
    names = [each.name for each in tetfile.diff(path, other, sort="change").datasets]
    assert names == ["w0", *sorted(list(old)[1:], key=lambda name: -figures(old[name][1], new[name][1])[1])]
    # One byte of each tensor; the lowest, which is no NaN after.
    for name, (dtype, array) in old.items():
        changed = array.copy()
        changed.reshape(-1).view("u1")[7 * array.itemsize] ^= 1
        one = write_safetensors(tmp_path / "one.safetensors", old | {name: (dtype, changed)})
        (found_one,) = tetfile.diff(path, one).datasets
        assert (found_one.name, found_one.differing, found_one.first[0]) == (name, 1, (0, 7))
        check_figures(found_one, array, changed)
    with pytest.raises(tetfile.UsageError):
        tetfile.diff(path, other, sort="name")


# Of K blocks: their length, the byte at which their scales of type float16 start, how many they are, and a byte of numbers.
K_BLOCKS = {"Q2_K": (84, 80, 2, 79), "Q3_K": (110, 108, 1, 95), "Q4_K": (144, 0, 2, 143), "Q5_K": (176, 0, 2, 175), "Q6_K": (210, 208, 1, 127)}


def k_blocks(name: str, seed: int) -> np.ndarray:
    """Three rows of two blocks: any bits, but for scales, which are small numbers."""
    length, start, count, _ = K_BLOCKS[name]
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 256, (3, 2, length), dtype="u1")
    scales = rng.uniform(0.01, 0.1, (3, 2, count)).astype("<f2")
    blocks[..., start : start + 2 * count] = scales.view("u1")
    return blocks.reshape(3, 2 * length)


def check_blocks(folder: Path, old: dict, others: dict[str, dict]) -> None:
    """Files of tensors in blocks differ by the figures of what the package gguf decodes."""
    import gguf

    for name, tensors in {"a": old, **others}.items():
        writer = gguf.GGUFWriter(folder / f"{name}.gguf", "llama")
        for kind, array in tensors.items():
            writer.add_tensor(kind.name, array, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    assert tetfile.diff(folder / "a.gguf", folder / "a.gguf").same
    for name, tensors in others.items():
        found = tetfile.diff(folder / "a.gguf", folder / f"{name}.gguf").datasets
        assert [each.name for each in found] == [kind.name for kind in old]
        for each, kind in zip(found, old, strict=True):
            decoded = [gguf.quants.dequantize(of[kind], kind) for of in (old, tensors)]
            assert each.differing
            check_figures(each, *decoded)


def test_quantized_blocks_change_as_their_decoded_values(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    kinds = [gguf.GGMLQuantizationType[name] for name in ("Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1")]
    rng = np.random.default_rng(5)
    values = {kind: rng.normal(size=(6, 64)).astype("f4") for kind in kinds}
    a, b = (
        {kind: gguf.quants.quantize(values[kind] * np.float32(scale), kind) for kind in kinds} for scale in (1.0, 1.1)
    )
    # One byte of each tensor, a number of the last block.
    one = {kind: array.copy() for kind, array in a.items()}
    for array in one.values():
        array.reshape(-1)[-1] ^= 1
    check_blocks(tmp_path, a, {"b": b, "one": one})


def test_k_blocks_change_as_their_decoded_values(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    a, b = ({gguf.GGMLQuantizationType[name]: k_blocks(name, seed) for name in K_BLOCKS} for seed in (1, 2))
    one = {kind: array.copy() for kind, array in a.items()}
    for kind, array in one.items():
        array[-1, K_BLOCKS[kind.name][3]] ^= 1
    check_blocks(tmp_path, a, {"b": b, "one": one})


def test_names_are_mapped(tmp_path: Path) -> None:
    old, new = checkpoints(tmp_path)
    path = write_safetensors(tmp_path / "old.safetensors", {f"module.{name}": each for name, each in old.items()})
    other = write_safetensors(tmp_path / "new.safetensors", new)
    assert tetfile.diff(path, other).compared == 0
    found = tetfile.diff(path, other, names={"module.*": "*"})
    assert found.compared == len(old) and found.only == ([], [])
    assert [(each.name, each.other) for each in found.datasets] == [(f"module.{name}", name) for name in old]
    for chosen in ("module.w1", "w1"):
        (one,) = tetfile.diff(path, other, chosen, names={"module.*": "*"}).datasets
        assert (one.name, one.other) == ("module.w1", "w1")
    with pytest.raises(tetfile.UsageError, match="both be compared"):
        tetfile.diff(path, other, names={"module.w0": "w1", "module.w1": "w1"})
    with pytest.raises(tetfile.NotFoundError):
        tetfile.diff(path, other, names={"modul.*": "*"})


def test_single_arrays_are_compared_whatever_their_names(tmp_path: Path) -> None:
    a = np.arange(12.0).reshape(3, 4)
    b = a.copy()
    b[1, 2] += 1
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    np.savez(tmp_path / "many.npz", b=b, c=b)
    (one,) = tetfile.diff(tmp_path / "a.npy", tmp_path / "b.npy").datasets
    assert (one.name, one.other, one.differing) == ("a", "b", 1)
    assert (one.rms, one.relative_l2, one.cosine) == figures(a, b)
    (one,) = tetfile.diff(tmp_path / "a.npy", tmp_path / "many.npz", "c").datasets
    assert (one.name, one.other) == ("a", "c")
    assert tetfile.diff(tmp_path / "a.npy", tmp_path / "many.npz").compared == 0
