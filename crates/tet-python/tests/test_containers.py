"""Arrays of every container are those that were written, whole and in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tetfile
from containers import CONTAINERS, write


@pytest.mark.parametrize("name", CONTAINERS)
def test_arrays_are_those_that_were_written(name: str, tmp_path: Path) -> None:
    path, arrays = write(tmp_path, name)
    with tetfile.open(path) as f:
        assert len(f) > 20
        for key in f:
            found, wanted = f[key], arrays[key]
            assert found.shape == wanted.shape, key
            assert found.dtype == wanted.dtype.newbyteorder("="), key
            assert found.nbytes == wanted.nbytes
            assert np.array_equal(found[...], wanted), key
            assert np.array_equal(np.asarray(found), wanted)
            joined = np.empty(found.shape, found.dtype)
            for part in found.iter_chunks():
                joined[part] = found[part]
            assert np.array_equal(joined, wanted), key
            into = np.empty(found.shape, found.dtype)
            found.read_into(into)
            assert np.array_equal(into, wanted), key
            if wanted.dtype.kind in "fiub" and wanted.size:
                assert np.isclose(float(found.sum()), float(wanted.astype("f8").sum()))
                assert found.max() == wanted.max()


def test_options_do_not_change_what_is_read(tmp_path: Path) -> None:
    path, arrays = write(tmp_path, "tet zstd")
    for how in [{"io": "mmap"}, {"io": "pread"}, {"threads": 1}, {"digests": "always"}, {"memory": 1 << 20}]:
        with tetfile.open(path, **how) as f:
            assert all(np.array_equal(f[name][...], arrays[name]) for name in f)


def test_eight_bit_floats_have_types_of_ml_dtypes(tmp_path: Path) -> None:
    import json
    import struct

    import ml_dtypes

    data = np.arange(16, dtype="u1")
    known = {"F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2}
    for stored, dtype in known.items():
        head = json.dumps({"x": {"dtype": stored, "shape": [4, 4], "data_offsets": [0, 16]}}).encode()
        path = tmp_path / f"{stored}.safetensors"
        path.write_bytes(struct.pack("<Q", len(head)) + head + data.tobytes())
        found = tetfile.open(path)["x"]
        wanted = data.view(dtype).reshape(4, 4)
        assert found.dtype == dtype
        assert np.array_equal(found[1:, [3, 0]].view("u1"), wanted[1:, [3, 0]].view("u1"))
        bits = np.empty((4, 4), "u1")
        found.read_into(bits)
        assert np.array_equal(bits, data.reshape(4, 4))
        numbers = wanted.astype("f4")
        assert found.mean() == numbers.astype("f8").mean() and found[1].max() == numbers[1].max()
        assert found.argmax() == numbers.argmax() and tetfile.open(path)["x"].std() == pytest.approx(numbers.std())
        assert tetfile.diff(path, path).same


def test_narrower_floats_and_quantized_blocks_are_float32(tmp_path: Path) -> None:
    import json
    import struct

    data = np.arange(0, 256, 11, dtype="u1").reshape(4, 6)
    head = json.dumps({"x": {"dtype": "F4", "shape": [4, 12], "data_offsets": [0, 24]}}).encode()
    path = tmp_path / "f4.safetensors"
    path.write_bytes(struct.pack("<Q", len(head)) + head + data.tobytes())
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], "f4")
    values = np.concatenate([values, -values])
    wanted = values[np.stack([data & 15, data >> 4], axis=-1)].reshape(4, 12)
    found = tetfile.open(path)["x"]
    assert found.dtype == "f4" and found.dtype_name == "float4_e2m1fn"
    assert np.array_equal(found[...], wanted) and np.array_equal(found[1:, 3::4], wanted[1:, 3::4])
    assert found.sum() == wanted.sum()
    # Two rows of a block of Q8_0 each: a scale, 32 integers.
    quants = np.arange(-32, 32, dtype="i1").reshape(2, 32)
    blocks = b"".join(np.float16(scale).tobytes() + row.tobytes() for scale, row in zip((0.5, 2), quants, strict=True))
    head = b"GGUF" + struct.pack("<IQQQ", 3, 1, 0, 1) + b"t" + struct.pack("<IQQIQ", 2, 32, 2, 8, 0)
    path = tmp_path / "q.gguf"
    path.write_bytes(head + bytes(-len(head) % 32) + blocks)
    wanted = quants.astype("f4") * np.array([[0.5], [2]], "f4")
    found = tetfile.open(path)["t"]
    assert found.dtype == "f4" and found.dtype_name == "Q8_0"
    assert np.array_equal(found[...], wanted) and np.array_equal(found[1, 5:9], wanted[1, 5:9])
    assert found.min() == wanted.min()


def test_texts_are_objects(tmp_path: Path) -> None:
    import h5py

    words = np.array([["a", "bc", ""], ["d", "\u00e9\u4e2d", "f" * 300]], dtype=object)
    with h5py.File(tmp_path / "t.h5", "w") as out:
        out.create_dataset("var", data=words, dtype=h5py.string_dtype())
        out["fixed"] = np.array([b"ab", b"c", b""])
    with tetfile.open(tmp_path / "t.h5") as f:
        assert f["var"].dtype == object
        assert np.array_equal(f["var"][...], words)
        assert f["var"][1, 2] == "f" * 300
        for key in [(1,), (slice(None, None, -1), 1), ([1, 0, 1], [0, 2, 2]), np.array([True, False])]:
            assert np.array_equal(f["var"][key], words[key])
        assert list(f["fixed"][...]) == ["ab", "c", ""]
        with pytest.raises(TypeError):
            f["var"].mean()


def test_attributes_have_their_types(tmp_path: Path) -> None:
    import h5py

    wanted = {
        "i2": np.int16(-3),
        "f4": np.float32(0.1),
        "f8": np.array([1.5, np.nan, -np.inf]),
        "u8": np.uint64(2**64 - 1),
        "text": "K",
        "many": np.arange(3, dtype="i4"),
    }
    with h5py.File(tmp_path / "a.h5", "w") as out:
        out["x"] = np.arange(3)
        out["x"].attrs.update(wanted)
    found = tetfile.open(tmp_path / "a.h5")["x"].attrs
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        assert np.array_equal(found[name], value, equal_nan=name == "f8"), name
        assert type(found[name]) is type(value), name
        assert np.asarray(found[name]).dtype == np.asarray(value).dtype
