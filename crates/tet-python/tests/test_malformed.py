"""Malformed files are errors for the readers of Zarr, and for maps, and nothing worse."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import tetfile
from conftest import hostile_files
from containers import CONTAINERS, write
from tetfile.zarr import Store
from zarr.core.buffer import default_buffer_prototype

# What readers may raise: also that there is no first sample, and that a file is shorter than its map would be.
EXPECTED = (tetfile.TetError, OSError, IndexError, ValueError)

# Changed files in all, over all containers.
MUTATIONS = 600


async def _read(store: Store) -> None:
    for key in islice(store._keys(""), 50):
        try:
            await store.get(key, default_buffer_prototype())
        except EXPECTED:
            pass


def _use(path: Path) -> None:
    try:
        f = tetfile.open(path)
    except EXPECTED:
        return
    with f:
        asyncio.run(_read(Store(f)))
        # What has many elements is bounded by the memory of the machine alone.
        for name in [name for name in islice(f, 10) if f.dataset(name).fault or f.dataset(name).size < 1 << 20]:
            works: list[Callable[[tetfile.Dataset], Any]] = [
                lambda dataset: dataset.memmap(),
                lambda dataset: f.to_references(include=[dataset.name], inline=0),
            ]
            for work in works:
                try:
                    work(f.dataset(name))
                except EXPECTED:
                    pass


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_hostile_files_are_errors_alone() -> None:
    paths = hostile_files()
    assert len(paths) > 100
    for path in paths:
        _use(path)


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
def test_changed_bytes_are_errors_alone(name: str, tmp_path: Path) -> None:
    path, _ = write(tmp_path, name)
    chance = random.Random(name)
    # Of a hierarchy the documents.
    members = sorted([*path.rglob("*.json"), *path.rglob(".z*")]) if path.is_dir() else [path]
    for _ in range(MUTATIONS // len(CONTAINERS)):
        member = chance.choice(members)
        sound = member.read_bytes()
        data = bytearray(sound)
        for _ in range(chance.randint(1, 4)):
            at = chance.choice([chance.randrange(min(len(data), 4096)), -1 - chance.randrange(min(len(data), 2048))])
            data[at] = chance.choice([0, 255, chance.randrange(256), data[at] ^ (1 << chance.randrange(8))])
        member.write_bytes(data)
        _use(path)
        member.write_bytes(sound)
