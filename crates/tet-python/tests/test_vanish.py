"""Small files of every container, changed a little: nothing of them is gone without a word, for Python and for xarray.

Each byte of each file of ``tests/data/vanish`` is changed, and each field of each JSON document in one. The file is then
refused, or a warning is given, or all names are there with as many attributes as before. As many others are as good: no
checksum of these formats covers all names. ``tests/world/vanish.rs`` asks the same of ``info`` and ``convert``, and says more of it.

``TET_VANISH_ALL=1`` makes all changes, which takes minutes; some of them are made otherwise.
"""

from __future__ import annotations

import json
import os
import random
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tetfile
import tetfile.zarr
import xarray
import zarr

DATA = Path(__file__).parents[3] / "tests/data/vanish"
FILES = sorted(path.name for path in DATA.iterdir() if path.suffix != ".py")
# Archives that are tried as folders too.
FOLDERS = ["v2.zarr", "v3.zarr"]
# Changes of each sample, unless all are made.
CHANGES = 150
IS_FULL = "TET_VANISH_ALL" in os.environ

# Errors that say what is wrong.
REFUSALS = (tetfile.TetError, OSError, ValueError)
# Bytes of a run of equal ones that are changed, at both ends: those between mean nothing of their own.
RUN_ENDS = 12
# What a field of a document is replaced by.
OTHERS: list[Any] = [None, True, 7, -1, "x", [], {}]
# The file itself among its datasets.
FILE = ""
# xarray shows attributes as they are stored.
RAW: dict[str, Any] = dict.fromkeys(["mask_and_scale", "decode_times", "decode_timedelta", "decode_coords", "concat_characters"], False)


@dataclass(frozen=True)
class Change:
    """A changed member of a sample; ``is_taken`` where a field was removed or emptied, so that attributes may be fewer."""

    member: str
    what: str
    data: Callable[[], bytes]
    is_taken: bool = False


@dataclass(frozen=True)
class Contents:
    """The attributes of each dataset and group, and how many there are of names that cannot be read; what was said."""

    counts: dict[str, int | None]
    said: frozenset[str]


def members(name: str) -> dict[str, bytes]:
    """The files of a sample by their paths; the path of the one without a folder is empty."""
    if name not in FOLDERS:
        return {"": (DATA / name).read_bytes()}
    with zipfile.ZipFile(DATA / f"{name}.zip") as archive:
        return {member: archive.read(member) for member in sorted(archive.namelist())}


def changes(name: str) -> Iterator[Change]:
    for member, data in members(name).items():
        for at in range(len(data)):
            around = data[max(0, at - RUN_ENDS) : at + RUN_ENDS + 1]
            if around != data[at : at + 1] * (2 * RUN_ENDS + 1):
                yield flipped(member, data, at)
        yield from documents(member, data)


def flipped(member: str, data: bytes, at: int) -> Change:
    bit = at % 8
    other = bytes([data[at] ^ 1 << bit])
    return Change(member, f"bit {bit} of byte {at}", lambda: data[:at] + other + data[at + 1 :])


def documents(member: str, data: bytes) -> Iterator[Change]:
    """A JSON document with one other field: the whole member, or behind its length at the beginning, as in safetensors."""
    size = int.from_bytes(data[:8], "little")
    for text, rest in [(data, None), (data[8 : 8 + size], data[8 + size :])]:
        try:
            document = json.loads(text)
        except ValueError:
            continue
        for what, value, is_taken in others_of(document, ""):
            yield Change(member, what, partial(written, value, rest), is_taken)


def written(document: Any, rest: bytes | None) -> bytes:
    text = json.dumps(document).encode()
    if rest is None:
        return text
    text = text.ljust(-(-len(text) // 8) * 8)
    return len(text).to_bytes(8, "little") + text + rest


def others_of(value: Any, path: str) -> Iterator[tuple[str, Any, bool]]:
    """Values with one field replaced, removed or added, at any depth; whether it was removed or emptied."""
    if not isinstance(value, dict | list):
        return
    fields: list[tuple[Any, Any]] = list(value.items() if isinstance(value, dict) else enumerate(value))

    def rebuilt(key: Any, changed: list[Any]) -> Any:
        parts = [(name, part) for name, old in fields for part in (changed if name == key else [old])]
        return dict(parts) if isinstance(value, dict) else [part for _, part in parts]

    for key, old in fields:
        within = f"{path}.{key}"
        replaced = [(f"{within} = {json.dumps(other)}", other, other in (None, {})) for other in OTHERS if other is not old]
        for what, other, is_taken in [*replaced, *others_of(old, within)]:
            yield what, rebuilt(key, [other]), is_taken
        yield f"{within} removed", rebuilt(key, []), True
    if isinstance(value, dict):
        yield f"{path}.unknown_field added", value | {"unknown_field": {"a": 1}}, False


def by_tetfile(path: Path) -> dict[str, int | None]:
    with tetfile.open(path) as file:
        counts: dict[str, int | None] = {group: len(attrs) for group, attrs in file._groups().items()}
        for name in file:
            dataset = file.dataset(name)
            if dataset.fault is None:
                counts[name] = len(dataset.attrs)
                continue
            counts[name] = None
            warnings.warn(f"{name!r}: {dataset.fault}", stacklevel=1)
            with pytest.raises(tetfile.TetError):
                dataset[...]
    return counts


def by_xarray(path: Path) -> dict[str, int | None]:
    counts: dict[str, int | None] = {}
    for group, dataset in xarray.open_groups(path, engine="tet", **RAW).items():
        with dataset:
            counts[group.strip("/")] = len(dataset.attrs)
            counts |= {f"{group}/{name}".strip("/"): len(variable.attrs) for name, variable in dataset.variables.items()}
    return counts


READERS = {"tetfile": by_tetfile, "xarray": by_xarray}


def contents(reader: str, path: Path) -> Contents | None:
    """What a reader shows of a file; nothing of one that it refuses."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            counts = READERS[reader](path)
        except REFUSALS:
            return None
    return Contents(counts, frozenset(str(each.message) for each in said))


def lost(sound: Contents, now: Contents | None, is_taken: bool) -> str | None:
    """What is gone without a word."""
    if now is None or not now.said <= sound.said:
        return None
    for name, count in sound.counts.items():
        if name not in now.counts:
            if len(now.counts) < len(sound.counts):
                return f"{name!r} is gone"
        elif count is not None and (left := now.counts[name]) is not None and left < count and not is_taken:
            return f"{name!r} has {left} attributes of {count}"
    return None


@pytest.mark.parametrize("name", [*FILES, *FOLDERS])
def test_nothing_is_gone_without_a_word(name: str, tmp_path: Path) -> None:
    root = tmp_path / name
    sound_members = members(name)
    for member, data in sound_members.items():
        (root / member).parent.mkdir(parents=True, exist_ok=True)
        (root / member).write_bytes(data)
    sound = {reader: contents(reader, root) for reader in READERS}
    every = list(changes(name))
    silent = []
    for change in every if IS_FULL else random.Random(name).sample(every, min(CHANGES, len(every))):
        (root / change.member).write_bytes(change.data())
        for reader, before in sound.items():
            assert before is not None
            if (loss := lost(before, contents(reader, root), change.is_taken)) is not None:
                silent.append(f"{reader}: {change.member} {change.what}: {loss}")
        (root / change.member).write_bytes(sound_members[change.member])
    assert not silent, "\n".join([f"{len(silent)} of {len(every)} changes:", *silent])


def test_a_dataset_of_no_known_shape_is_no_scalar(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as out:
        out["v"] = np.arange(6.0).reshape(2, 3)
        out["lost"] = h5py.SoftLink("/nowhere")
    with tetfile.open(path) as file:
        lost = file.dataset("lost")
        assert lost.fault is not None and lost.dims is None and lost.dtype_name == ""
        for ask in ("shape", "ndim", "size", "nbytes", "dtype", "chunks", "values"):
            with pytest.raises(tetfile.TetError, match="lost"):
                getattr(lost, ask)
        for use in (len, list, np.asarray, lambda it: it["id"], lambda it: it.isel(x=0), lambda it: it.mean()):
            with pytest.raises(tetfile.TetError, match="lost"):
                use(lost)
        assert repr(lost) == "<tetfile.Dataset lost: ? ?>" and "lost: ? ?" in repr(file) and "lost  ? ?" in file.tree()
        for shown in (lost._repr_html_(), file._repr_html_()):
            assert "<td" in shown and "should lead to an object" in shown
        with pytest.warns(UserWarning, match="'lost' is left out"):
            assert list(file.stats()) == ["v"]
        with pytest.warns(UserWarning, match="lost"):
            assert list(zarr.open_group(tetfile.zarr.Store(file), mode="r").array_keys()) == ["v"]
    with pytest.warns(UserWarning, match="'lost' is left out"):
        found = xarray.open_dataset(path, engine="tet").load()
    assert found["v"].dims == ("phony_dim_0", "phony_dim_1")
