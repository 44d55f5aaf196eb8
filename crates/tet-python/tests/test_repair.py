"""Damaged files are repaired as by the command."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import tetfile


def broken(folder: Path, suffix: str, count: int) -> tuple[Path, bytes]:
    """A file with bits that are flipped among its elements, and the bytes that it had."""
    path = folder / f"x.{suffix}"
    array = np.arange(10_000.0)
    tetfile.create(path, {"a": array}).commit()
    sound = path.read_bytes()
    at = sound.find(array[5000:5003].tobytes())
    assert at > 0
    data = bytearray(sound)
    for nth in range(count):
        data[at + 9 * nth] ^= 1
    path.write_bytes(data)
    return path, sound


def test_a_flipped_bit_is_restored(tmp_path: Path) -> None:
    path, sound = broken(tmp_path, "tet", 1)
    damaged = path.read_bytes()
    plan = tetfile.repair(path, dry_run=True)
    assert plan.whole and not plan.written and not plan.edits[0].made
    assert path.read_bytes() == damaged
    done = tetfile.repair(path)
    assert done and done.written and [edit.proof for edit in done.edits] == ["digest"]
    assert path.read_bytes() == sound
    again = tetfile.repair(path)
    assert again and not again.written and again.edits == []


def test_a_copy_restores_what_is_lost(tmp_path: Path) -> None:
    path, sound = broken(tmp_path, "tet", 50)
    copy = tmp_path / "copy.tet"
    copy.write_bytes(sound)
    assert not tetfile.repair(path, dry_run=True)
    assert tetfile.repair(path, copy=copy)
    assert path.read_bytes() == sound


def test_salvage_keeps_the_rest(tmp_path: Path) -> None:
    path, _ = broken(tmp_path, "tet", 50)
    damaged = path.read_bytes()
    with pytest.raises(tetfile.UsageError, match="pass an output"):
        tetfile.repair(path, salvage=True)
    done = tetfile.repair(path, tmp_path / "rest.tet", salvage=True)
    assert done.written and any(edit.losses for edit in done.edits)
    assert path.read_bytes() == damaged
    assert np.isnan(tetfile.open(tmp_path / "rest.tet")["a"][5000])
    with pytest.raises(FileExistsError):
        tetfile.repair(path, tmp_path / "rest.tet", salvage=True)
    tetfile.repair(path, tmp_path / "rest.tet", salvage=True, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["rest.tet", "x.tet"]


@pytest.mark.parametrize("suffix", ["zt", "npz"])
def test_more_flipped_bits_than_one_are_refused(tmp_path: Path, suffix: str) -> None:
    path, _ = broken(tmp_path, suffix, 3)
    damaged = path.read_bytes()
    found = tetfile.repair(path)
    assert not found and not found.written and found.edits == []
    assert "no single flipped bit explains the checksum" in found.lost[0]
    assert path.read_bytes() == damaged
    with pytest.raises(tetfile.UnsupportedError, match="for .tet files"):
        tetfile.repair(path, tmp_path / "rest", salvage=True)


@pytest.mark.parametrize("suffix", ["zt", "npz"])
def test_a_flipped_bit_of_other_formats_is_restored(tmp_path: Path, suffix: str) -> None:
    path, sound = broken(tmp_path, suffix, 1)
    assert tetfile.repair(path).written
    assert path.read_bytes() == sound


def test_other_formats_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    with pytest.raises(tetfile.UnsupportedError, match=r"x\.npy: files of this format have no checksums"):
        tetfile.repair(tmp_path / "x.npy")
    with pytest.raises(FileNotFoundError):
        tetfile.repair(tmp_path / "none.tet")
