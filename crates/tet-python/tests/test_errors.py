"""Exceptions: the class that users of NumPy, mappings and files expect, and the place in the file."""

from __future__ import annotations

import errno
import os
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tetfile
import tetfile.xarray
import xarray
from conftest import hostile_files
from containers import CONTAINERS, write

# Changed files in all, over all containers.
MUTATIONS = 3600

# What opening and reading any bytes may raise.
EXPECTED = (tetfile.TetError, OSError)


def test_errors_of_the_system_are_os_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        tetfile.open(tmp_path / "nothing.tet")
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(tmp_path / "nothing.tet")
    with pytest.raises(IsADirectoryError):
        tetfile.open(tmp_path)
    with pytest.raises(OSError) as pipe:
        os.mkfifo(tmp_path / "pipe")
        tetfile.open(tmp_path / "pipe")
    assert not isinstance(pipe.value, tetfile.TetError)
    with pytest.raises(NotADirectoryError):
        (tmp_path / "file").write_text("x")
        tetfile.open(tmp_path / "file" / "x.tet")
    with pytest.raises(FileNotFoundError):
        tetfile.verify(tmp_path / "nothing.tet")


def test_a_folder_that_does_not_exist_is_named(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "nodir" / "x.tet"
    writes: list[Callable[[], object]] = [
        lambda: tetfile.create(path),
        lambda: tetfile.create(path.with_suffix(".nc")),
        lambda: tetfile.plan(path, {}),
        lambda: tetfile.convert(files / "climate.nc", path),
        lambda: tetfile.convert(files / "climate.nc", path, strict=True),
        lambda: tetfile.repair(files / "broken.tet", path),
        lambda: tetfile.open(files / "climate.nc").to_references(path.with_suffix(".json")),
        lambda: xarray.Dataset({"v": ("x", [1.0])}).tet.to_tet(path),
    ]
    for write in writes:
        with pytest.raises(FileNotFoundError, match=f"the folder {path.parent} does not exist") as caught:
            write()
        assert caught.value.errno == errno.ENOENT and os.path.dirname(caught.value.filename) == str(path.parent)
    for make in (tetfile.create, lambda path: tetfile.plan(path, {})):
        with pytest.raises(NotADirectoryError) as wrong:
            make(files / "climate.nc" / "x.tet")
        assert wrong.value.filename == str(files / "climate.nc")


@pytest.mark.parametrize("memory", ["64MiB", "1GB", "0.5 g", 1 << 26, np.int64(1 << 26)])
def test_memory_is_a_number_or_a_text(files: Path, tmp_path: Path, memory: Any) -> None:
    with tetfile.open(files / "climate.tet", memory=memory, threads=0) as file:
        assert file["temp"].max() == 309.0
        with tetfile.create(tmp_path / "x.tet", {"x": file["temp"]}, memory=memory, threads=0):
            pass
    assert tetfile.convert(tmp_path / "x.tet", tmp_path / "x.nc", memory=memory, threads=0).datasets == ["x"]
    assert tetfile.verify(tmp_path / "x.tet", memory=memory, threads=0).ok
    tetfile.append(tmp_path / "x.tet", {"x": np.zeros((1, 4, 8))}, memory=memory)
    assert xarray.open_dataset(tmp_path / "x.tet", memory=memory)["x"].sizes["time"] == 13


def test_bounds_mean_what_those_of_the_command_mean(files: Path) -> None:
    path = files / "climate.tet"
    with tetfile.open(files / "climate.nc", memory="0.25k") as file, pytest.raises(tetfile.LimitError, match="the memory budget is 256"):
        file["temp"].mean()
    for wrong in ("", "1XB", "much", -1, 1 << 64):
        for use in (lambda: tetfile.open(path, memory=wrong), lambda: tetfile.repair(path, dry_run=True, memory=wrong)):
            with pytest.raises(ValueError, match="memory="):
                use()
    for wrong in (-1, 1025, 1 << 70):
        with pytest.raises(ValueError, match="threads=.*give 0 to 1024; 0 is one for each processor"):
            tetfile.open(path, threads=wrong)
        with pytest.raises(ValueError, match="threads="):
            tetfile.convert(path, "never.tet", threads=wrong)
    for kind in (1e9, True, [1]):
        with pytest.raises(TypeError, match="memory"):
            tetfile.open(path, memory=kind)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="threads"):
            tetfile.open(path, threads=kind)  # type: ignore[arg-type]


def test_the_place_of_a_damage_is_named(files: Path) -> None:
    with tetfile.open(files / "broken.tet") as f, pytest.raises(tetfile.DamagedError) as caught:
        f["temp"][...]
    error = caught.value
    assert (error.dataset, error.chunk) == ("temp", (0, 0, 0))
    assert error.rule is not None and error.rule.startswith("TET-") and error.byte is not None
    assert "temp" in str(error) and "checksum" in str(error)
    # What is not damaged is read.
    with tetfile.open(files / "broken.tet") as f:
        assert f["month"].sum() == 78
    with tetfile.open(files / "broken.tet", digests="never") as f:
        assert f["temp"].shape == f["temp"][...].shape


def test_exceptions_keep_their_place_when_they_are_pickled(files: Path) -> None:
    with tetfile.open(files / "broken.tet") as f, pytest.raises(tetfile.DamagedError) as caught:
        f["temp"].mean()
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is tetfile.DamagedError and str(again) == str(caught.value)
    assert (again.dataset, again.chunk, again.rule, again.byte) == tuple(
        getattr(caught.value, name) for name in ("dataset", "chunk", "rule", "byte")
    )


def test_unknown_formats_are_not_supported(files: Path) -> None:
    with pytest.raises(tetfile.UnsupportedError) as caught:
        tetfile.open(files / "notes.txt")
    assert caught.value.path == str(files / "notes.txt")


def test_names_that_are_not_there_are_key_errors(files: Path) -> None:
    with tetfile.open(files / "climate.tet") as f:
        with pytest.raises(KeyError, match="did you mean") as caught:
            f["tmep"]
        assert isinstance(caught.value, tetfile.NotFoundError) and caught.value.dataset == "tmep"
        # A KeyError would show its message in quotes.
        assert str(caught.value).startswith("no dataset")
        with pytest.raises(KeyError):
            f["temp"].mean(dim="level")


def test_wrong_types_of_elements_are_type_errors(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out["text"] = np.array([b"a", b"b"])
        out["complex"] = np.array([1 + 2j])
        out["parts"] = np.zeros(3, dtype=[("a", "i4"), ("b", "f8")])
    with tetfile.open(tmp_path / "x.h5") as f:
        for name in ("text", "complex"):
            with pytest.raises(TypeError) as caught:
                f[name].max()
            assert isinstance(caught.value, tetfile.ElementTypeError)
        assert f["complex"][0] == 1 + 2j
        with pytest.raises(tetfile.UnsupportedError, match="members"):
            f["parts"][...]
        assert f["parts"].fault is not None and "members" in f["parts"].fault


def test_limits_are_limit_errors(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out.create_dataset("huge", shape=(1 << 40,), dtype="f8", chunks=(1 << 20,))
    with tetfile.open(tmp_path / "x.h5") as f:
        with pytest.raises(tetfile.LimitError):
            f["huge"][...]
        assert f["huge"][12345] == 0 and f["huge"].nbytes == 8 << 40


def test_memory_of_the_caller_is_checked(files: Path) -> None:
    with tetfile.open(files / "climate.tet") as f:
        temp = f["temp"]
        sound = np.empty((12, 4, 8), "f4")
        temp.read_into(sound)
        assert np.array_equal(sound, temp[...])
        frozen = sound.copy()
        frozen.flags.writeable = False
        for wrong in [np.empty((12, 4, 7), "f4"), np.empty((12, 4, 8), "f8"), np.empty((24, 4, 8), "f4")[::2], frozen]:
            with pytest.raises(ValueError):
                temp.read_into(wrong)
        with pytest.raises(ValueError):
            np.array(temp, copy=False)
        assert np.asarray(temp, dtype="f8").dtype == np.float64


def test_options_are_checked(files: Path) -> None:
    for wrong in [{"io": "fast"}, {"digests": "some"}, {"threads": -1}, {"memory": -5}, {"memory": "1X"}]:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            tetfile.open(files / "climate.tet", **wrong)


def _use(path: Path) -> None:
    """Opens a file and reads all of it that can be read: an exception of ours, or none."""
    try:
        f = tetfile.open(path, memory=16 << 20)
    except EXPECTED:
        return
    with f:
        for name in list(f)[:50]:
            try:
                found = f.dataset(name)
                repr(found), found.attrs, found.fault
                if found.size < 1 << 20:
                    found[...]
                    found.max()
                if found.ndim:
                    found[0], found[-1:, ...], found[[0]]
            except (*EXPECTED, IndexError, ValueError, TypeError):
                pass
        repr(f), f.tree(), f.findings
    try:
        tetfile.verify(path)
    except EXPECTED:
        pass


def test_hostile_files_raise_and_crash_nothing() -> None:
    paths = hostile_files()
    assert len(paths) > 100
    for path in paths:
        _use(path)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_changed_bytes_raise_and_crash_nothing(name: str, tmp_path: Path) -> None:
    path, _ = write(tmp_path, name)
    chance = random.Random(name)
    members = sorted(path.rglob("*")) if path.is_dir() else [path]
    members = [member for member in members if member.is_file()]
    for _ in range(MUTATIONS // len(CONTAINERS)):
        # The documents of a hierarchy matter more than its chunks.
        member = chance.choice([it for it in members if "json" in it.name or it.name.startswith(".z")] or members)
        sound = member.read_bytes()
        data = bytearray(sound)
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        for _ in range(chance.randint(1, 4)):
            if data:
                # Where a file begins and ends there is more to be misread.
                at = chance.choice([chance.randrange(len(data)), chance.randrange(min(len(data), 4096)), -1 - chance.randrange(min(len(data), 2048))])
                data[at] = chance.choice([0, 255, chance.randrange(256), data[at] ^ (1 << chance.randrange(8))])
        member.write_bytes(data)
        try:
            _use(path)
        finally:
            member.write_bytes(sound)
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_quantiles_are_from_0_to_1(files: Path) -> None:
    month = tetfile.open(files / "climate.tet")["month"]
    for wrong in (2, -0.1, np.nan, [0.5, 1.5], [[0.5]]):
        with pytest.raises(ValueError, match="is not a quantile from 0 to 1"):
            month.quantile(wrong)
    assert month.quantile(np.float32(0.5)) == month.quantile(np.array(0.5)) == 6.5
    assert month.quantile([]).shape == (0,) and month.quantile(np.array([0.5])).tolist() == [6.5]


def test_arguments_of_other_kinds_are_named(files: Path, tmp_path: Path) -> None:
    file = tetfile.open(files / "climate.tet")
    temp: Any = file["temp"]
    cases: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (TypeError, "an axis is a number or a name, not bool", lambda: temp.mean(True)),
        (TypeError, "an axis is a number or a name, not float", lambda: temp.mean(1.0)),
        (TypeError, "bins: ", lambda: temp.histogram(bins=2.5)),
        (ValueError, "bins: ", lambda: temp.histogram(bins=-1)),
        (TypeError, "ddof: ", lambda: temp.var(ddof="a")),
        (TypeError, "weights is a mapping of axes", lambda: temp.mean(weights=[1, 2])),
        (TypeError, "a selection is by names of axes", lambda: temp.isel(0)),
        (TypeError, "a selection is by names of axes", lambda: temp.sel("lat")),
        (TypeError, "an open file are read-only", lambda: temp.__setitem__(0, 1)),
        (TypeError, "tetfile.create writes a new one", lambda: file.__setitem__("new", 1)),
        (TypeError, "chunks are one extent for each axis", lambda: tetfile.convert(file, tmp_path / "o.tet", chunks=5)),
        (ValueError, "dtype=\"foo\"", lambda: tetfile.convert(file, tmp_path / "o.tet", dtype="foo")),
        (TypeError, "datasets is a mapping", lambda: tetfile.create(tmp_path / "o.tet", [1])),
        (TypeError, "datasets is a mapping", lambda: tetfile.append(files / "climate.tet", [1])),
        (TypeError, "not bytes", lambda: tetfile.create(b"o.tet")),
        # Before elements are written, and not after.
        (ValueError, "of no known format", lambda: tetfile.create(tmp_path / "o.txt")),
    ]
    for kind, why, use in cases:
        with pytest.raises(kind, match=why):
            use()
    assert temp.mean(np.array(1)).shape == temp.mean(np.int64(1)).shape == (12, 8)
    assert temp.labels(np.int64(1)).tolist() == [0, 10, 20, 30]
    tetfile.convert(file, tmp_path / "o.tet", dtype={"temp": np.float64, "lat": np.dtype("f8"), "lon": "f8"})
    assert {tetfile.open(tmp_path / "o.tet")[name].dtype.name for name in ("temp", "lat", "lon")} == {"float64"}
