"""Tensors of PyTorch from every container, and files that the packages of others read."""

from __future__ import annotations

import doctest
import os
import pickle
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import safetensors
import safetensors.torch
import tetfile
import tetfile.torch
import torch
from conftest import hostile_files
from containers import CONTAINERS, write
from torch.utils.data import DataLoader

TYPES = [getattr(torch, name) for name in tetfile.torch._CODES]
SUFFIXES = ["safetensors", "zt", "tet"]


def same(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Whether tensors are the same bit for bit."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    bits = [one.detach().contiguous().reshape(-1).view(torch.uint8) if one.numel() else one for one in (found, wanted)]
    return torch.equal(*bits)


def tensors(seed: int = 0) -> dict[str, torch.Tensor]:
    """Tensors of every type, of 0 to 3 axes, some without elements."""
    random = np.random.default_rng(seed)
    found = {}
    for dtype in TYPES:
        for shape in [(), (1,), (7,), (3, 5), (2, 3, 4), (0, 3)]:
            bits = random.integers(0, 2 if dtype == torch.bool else 256, (*shape, dtype.itemsize), dtype="u1")
            name = f"layer.{len(shape)}.{'x'.join(map(str, shape))}/{str(dtype).removeprefix('torch.')}"
            flat = torch.from_numpy(bits.reshape(-1).copy())
            found[name] = flat.view(dtype).reshape(shape) if flat.numel() else torch.empty(shape, dtype=dtype)
    return found


@pytest.mark.parametrize("name", CONTAINERS)
def test_tensors_of_every_container_are_those_that_were_written(name: str, tmp_path: Path) -> None:
    path, arrays = write(tmp_path, name)
    found = tetfile.torch.load(path)
    assert set(found) <= set(arrays) and len(found) > 20
    for key, one in found.items():
        wanted = arrays[key].astype(arrays[key].dtype.newbyteorder("="))
        if path.suffix == ".tet" and key.endswith("_0"):
            # Such a file marks arrays without axes, which it has with one.
            wanted = wanted.reshape(())
        assert str(one.dtype) == f"torch.{wanted.dtype.name}" and one.shape == wanted.shape, key
        assert one.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() == wanted.tobytes(), key
    some = list(found)[:2]
    assert list(tetfile.torch.load(path, keys=some)) == some


def test_checkpoints_of_pytorch_are_loaded(tmp_path: Path) -> None:
    wanted = {
        name: one for name, one in tensors().items() if one.dtype not in (torch.uint16, torch.uint32, torch.uint64)
    }
    base = torch.arange(24.0).reshape(4, 6)
    wanted |= {"turned": base.T, "row": base[1], "steps": base[::2, ::3]}
    torch.save(wanted, tmp_path / "model.pt")
    found = tetfile.torch.load(tmp_path / "model.pt")
    read = {name.replace("\\/", "/"): one for name, one in found.items()}
    assert len(read) == len(wanted)
    for name, one in wanted.items():
        assert same(read[name], one), name


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_saved_tensors_come_back_bit_for_bit(suffix: str, tmp_path: Path) -> None:
    wanted = tensors()
    path = tmp_path / f"model.{suffix}"
    tetfile.torch.save(wanted, path, metadata={"step": "7", "who": "\u00e9\u4e2d"})
    found = tetfile.torch.load(path)
    assert set(found) == set(wanted)
    for name, one in wanted.items():
        assert same(found[name], one), name
    assert tetfile.verify(path).ok
    with tetfile.torch.safe_open(path, "pt") as f:
        metadata = f.metadata()
        assert metadata is not None and metadata["step"] == "7" and metadata["who"] == "\u00e9\u4e2d"
    # A .tet file has int8 as int16.
    seen = [name for name in wanted if suffix != "tet" or not name.endswith("/int8")]
    mapped = tetfile.torch.load(path, mmap=True, keys=seen)
    for name, one in mapped.items():
        assert same(one, wanted[name]), name


def test_safetensors_reads_what_is_saved(tmp_path: Path) -> None:
    wanted = tensors()
    tetfile.torch.save_file(wanted, tmp_path / "ours.safetensors", {"format": "pt"})
    safetensors.torch.save_file(wanted, tmp_path / "theirs.safetensors", {"format": "pt"})
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
    found = safetensors.torch.load_file(tmp_path / "ours.safetensors")
    assert set(found) == set(wanted) and all(same(found[name], one) for name, one in wanted.items())


@pytest.mark.parametrize("suffix", ["npz", "h5", "zarr", "tgm"])
def test_other_formats_are_saved(suffix: str, tmp_path: Path) -> None:
    wanted = {
        "a": torch.arange(12, dtype=torch.int32).reshape(3, 4),
        "b": torch.linspace(0, 1, 9),
        "half": torch.ones(3).half(),
    }
    path = tmp_path / f"model.{suffix}"
    tetfile.torch.save(wanted, path)
    found = tetfile.torch.load(path)
    assert all(same(found[name], one) for name, one in wanted.items())
    if suffix == "npz":
        with np.load(path) as theirs:
            assert np.array_equal(theirs["a"], wanted["a"].numpy())
    if suffix == "h5":
        with h5py.File(path) as theirs:
            assert np.array_equal(theirs["b"][...], wanted["b"].numpy())


def test_tensors_that_are_not_contiguous_are_saved(tmp_path: Path) -> None:
    base = torch.arange(24.0).reshape(4, 6)
    wanted = {
        "turned": base.clone().T,
        "steps": base.clone()[::2, ::3],
        "grown": torch.ones(3, 1).expand(3, 5),
        "conjugate": torch.randn(4, dtype=torch.complex64).conj(),
        "parameter": torch.nn.Parameter(torch.randn(3)),
    }
    tetfile.torch.save(wanted, tmp_path / "x.safetensors")
    found = tetfile.torch.load(tmp_path / "x.safetensors")
    for name, one in wanted.items():
        assert torch.equal(found[name], one.detach().resolve_conj()), name


def test_models_are_saved_and_loaded(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.BatchNorm1d(7), torch.nn.Linear(7, 2))
    again = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.BatchNorm1d(7), torch.nn.Linear(7, 2))
    for suffix in SUFFIXES:
        tetfile.torch.save(model.state_dict(), tmp_path / f"m.{suffix}")
        again.load_state_dict(tetfile.torch.load_file(tmp_path / f"m.{suffix}"))
        given = torch.randn(4, 5)
        assert torch.equal(model.eval()(given), again.eval()(given))


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    base = torch.arange(6.0)
    path = tmp_path / "x.safetensors"
    for wrong in [
        {"a": base, "b": base},
        {"a": base, "b": base[2:]},
        {"a": base[:4], "b": base[3:]},
        {"a": base.view(2, 3), "b": base.view(torch.int32)},
        {"a": torch.zeros(2, dtype=torch.complex128)},
        {"a": torch.eye(3).to_sparse()},
        {"a": torch.empty(3, device="meta")},
        {"a": np.zeros(3)},
        {"__metadata__": torch.zeros(3)},
    ]:
        with pytest.raises(tetfile.UsageError):
            tetfile.torch.save(wrong, path)  # type: ignore[arg-type]
    tetfile.torch.save({"a": base[:3], "b": base[3:]}, path)
    with pytest.raises(FileExistsError):
        tetfile.torch.save({"a": base}, path)
    assert set(tetfile.torch.load(path)) == {"a", "b"}
    tetfile.torch.save({"c": base}, path, overwrite=True)
    tetfile.torch.save_file({"d": base}, path)
    assert set(tetfile.torch.load(path)) == {"d"}
    with pytest.raises(tetfile.TetError):
        tetfile.torch.save({"a": base}, tmp_path / "x.nothing")
    assert [it.name for it in tmp_path.iterdir()] == ["x.safetensors"]


def test_no_tensors_are_saved(tmp_path: Path) -> None:
    tetfile.torch.save({}, tmp_path / "x.safetensors", metadata={"a": "b"})
    assert (
        tetfile.torch.load(tmp_path / "x.safetensors") == {} == safetensors.torch.load_file(tmp_path / "x.safetensors")
    )


KEYS: list[Any] = [
    slice(None),
    slice(2, 9),
    slice(-3, None),
    slice(None, None, 3),
    3,
    -1,
    (slice(1, 3), slice(None, None, 2)),
    (..., 0),
    (0, 0),
    (slice(5, 5),),
    (slice(None), 2),
    (slice(0, 100), slice(-4, -1)),
]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.bool, torch.complex64])
def test_slices_are_those_of_safetensors(suffix: str, dtype: torch.dtype, tmp_path: Path) -> None:
    wanted = {"a": (torch.arange(70).reshape(10, 7) % 13).to(dtype), "b": torch.tensor(1.5)}
    safetensors.torch.save_file(wanted, tmp_path / "theirs.safetensors", {"who": "me"})
    tetfile.torch.save(wanted, tmp_path / f"ours.{suffix}", metadata={"who": "me"})
    with safetensors.safe_open(tmp_path / "theirs.safetensors", "pt") as theirs:
        with tetfile.torch.safe_open(tmp_path / f"ours.{suffix}", framework="pt", device="cpu") as ours:
            assert ours.keys() == sorted(theirs.keys())
            assert set(ours.offset_keys()) == set(theirs.offset_keys())
            assert ours.metadata() == theirs.metadata()
            assert same(ours.get_tensor("a"), theirs.get_tensor("a")) and same(
                ours.get_tensor("b"), theirs.get_tensor("b")
            )
            for key in KEYS:
                assert same(ours.get_slice("a")[key], theirs.get_slice("a")[key]), key
            assert ours.get_slice("a").get_shape() == theirs.get_slice("a").get_shape()
            assert ours.get_slice("a").get_dtype() == theirs.get_slice("a").get_dtype()
            assert same(ours.get_slice("a")[[3, 0, 3]], wanted["a"][[3, 0, 3]])
            assert same(ours.get_slice("a")[::-2], wanted["a"].flip(0)[::2])
            with pytest.raises(KeyError):
                ours.get_tensor("nothing")
            with pytest.raises(IndexError):
                ours.get_slice("a")[10]
        with pytest.raises(ValueError, match="closed"):
            ours.get_tensor("a")


def test_arrays_of_numpy_are_opened(tmp_path: Path) -> None:
    tetfile.torch.save({"a": torch.arange(6.0)}, tmp_path / "a.zt")
    with tetfile.torch.safe_open(tmp_path / "a.zt", "np") as f:
        assert isinstance(f.get_tensor("a"), np.ndarray) and np.array_equal(
            f.get_slice("a")[::-1], np.arange(6.0)[::-1]
        )
    with pytest.raises(ValueError):
        tetfile.torch.safe_open(tmp_path / "a.zt", "jax")
    with pytest.raises(FileNotFoundError):
        tetfile.torch.safe_open(tmp_path / "nothing.zt", "pt")


def test_what_is_no_tensor_is_refused_by_name(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out["numbers"] = np.arange(3.0)
        out["words"] = np.array([b"a", b"bc"])
    with pytest.raises(tetfile.UnsupportedError, match="words"):
        tetfile.torch.load(tmp_path / "x.h5")
    assert list(tetfile.torch.load(tmp_path / "x.h5", keys=["numbers"])) == ["numbers"]
    with pytest.raises(tetfile.NotFoundError):
        tetfile.torch.load(tmp_path / "x.h5", keys=["nothing"])


def test_maps_are_private_views_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tetfile.torch.save({"a": torch.arange(1000.0), "b": torch.ones(3, dtype=torch.bfloat16)}, path)
    before = path.read_bytes()
    found = tetfile.torch.load(path, mmap=True)
    found["a"][:] = -1
    assert path.read_bytes() == before and torch.equal(tetfile.torch.load(path)["a"], torch.arange(1000.0))
    assert found["b"].dtype == torch.bfloat16
    np.savez_compressed(tmp_path / "x.npz", a=np.arange(5))
    with pytest.raises(tetfile.UnsupportedError, match="'a'"):
        tetfile.torch.load(tmp_path / "x.npz", mmap=True)
    np.save(tmp_path / "x.npy", np.arange(5, dtype=">i4"))
    with pytest.raises(tetfile.UnsupportedError, match="big-endian"):
        tetfile.torch.load(tmp_path / "x.npy", mmap=True)


def test_tensors_beyond_memory_are_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "huge.h5", "w") as out:
        out.create_dataset("x", shape=(1 << 40,), dtype="f4", chunks=(1 << 20,))
    with pytest.raises(tetfile.LimitError):
        tetfile.torch.load(tmp_path / "huge.h5")
    with tetfile.torch.safe_open(tmp_path / "huge.h5") as f:
        assert torch.equal(f.get_slice("x")[-3:], torch.zeros(3))


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Images and labels in compressed chunks."""
    random = np.random.default_rng(0)
    images, labels = random.random((103, 4, 5)).astype("f4"), random.integers(0, 10, 103)
    path = tmp_path_factory.mktemp("torch") / "samples.h5"
    with h5py.File(path, "w") as out:
        out.create_dataset("images", data=images, chunks=(10, 4, 5), compression="gzip")
        out["labels"] = labels
    return path, images, labels


@pytest.mark.parametrize("context", [None, "fork", "spawn"])
def test_batches_are_those_of_the_arrays(context: str | None, samples: Any) -> None:
    path, images, labels = samples
    f = tetfile.open(path)
    assert f["images"].mean() > 0, "threads of this process are running when others are forked"
    dataset = tetfile.torch.Dataset(f["images"], f["labels"])
    workers = {"num_workers": 2, "multiprocessing_context": context} if context else {}
    loader = DataLoader(dataset, batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(3), **workers)
    seen = []
    for image, label in loader:
        assert image.dtype == torch.float32 and image.shape[1:] == (4, 5)
        seen += [(one.numpy().tobytes(), int(number)) for one, number in zip(image, label, strict=True)]
    assert sorted(seen) == sorted((one.tobytes(), int(number)) for one, number in zip(images, labels, strict=True))


def test_samples_are_tensors_tuples_or_dicts(samples: Any) -> None:
    path, images, labels = samples
    f = tetfile.open(path)
    alone = tetfile.torch.Dataset(f["images"])
    assert len(alone) == 103 and np.array_equal(alone[-1], images[-1]) and alone[3].shape == (4, 5)
    named = tetfile.torch.Dataset(image=f["images"], label=f["labels"])
    assert list(named[5]) == ["image", "label"] and int(named[5]["label"]) == labels[5]
    assert [int(one["label"]) for one in named.__getitems__([7, 7, 0])] == [labels[7], labels[7], labels[0]]
    again = pickle.loads(pickle.dumps(named))
    assert np.array_equal(again[9]["image"], images[9])
    part = tetfile.torch.Dataset(f["images"].isel(dim_0=slice(10, 20)) if f["images"].dims else f["images"])
    assert len(part) in (10, 103)
    with pytest.raises(IndexError):
        alone[103]
    for wrong in [lambda: tetfile.torch.Dataset(), lambda: tetfile.torch.Dataset(f["images"], other=f["labels"])]:
        with pytest.raises(ValueError):
            wrong()


def test_datasets_of_other_extents_are_refused(files: Path) -> None:
    f = tetfile.open(files / "climate.nc")
    with pytest.raises(ValueError, match="first axes"):
        tetfile.torch.Dataset(f["temp"], f["lat"])
    with pytest.raises(ValueError, match="first axes"):
        tetfile.torch.Dataset(f["temp"].isel(time=0, lat=0, lon=0))


def test_tensors_are_parts_of_datasets(files: Path) -> None:
    temp = tetfile.open(files / "climate.nc")["temp"]
    assert torch.equal(tetfile.torch.tensor(temp.isel(time=3)), torch.from_numpy(temp[3]))
    assert torch.equal(torch.from_dlpack(temp), torch.from_numpy(temp[...]))


def test_hostile_files_are_errors_alone() -> None:
    expected = (tetfile.TetError, OSError, IndexError, ValueError)
    paths = hostile_files()
    assert len(paths) > 100
    for path in paths:
        try:
            f = tetfile.open(path)
        except expected:
            continue
        with f:
            for name in [name for name in islice(f, 10) if f.dataset(name).size < 1 << 20]:
                for work in (tetfile.torch.tensor, lambda dataset: tetfile.torch.Dataset(dataset)[0]):
                    try:
                        work(f.dataset(name))
                    except expected:
                        pass


def test_examples_do_what_they_show(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in files.iterdir():
        shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    runner = doctest.DocTestRunner(optionflags=flags)
    known = {"tetfile": tetfile, "np": np, "os": os}
    for example in doctest.DocTestFinder().find(tetfile.torch, globs=known):
        runner.run(example)
    (tmp_path / "guide").mkdir()
    monkeypatch.chdir(tmp_path / "guide")
    page = Path(__file__).parents[4] / "docs/guide/torch.md"
    found = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert runner.failures == 0 and found.failed == 0 and found.attempted > 5
