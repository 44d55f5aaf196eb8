"""Any key gives what NumPy gives: the same values, type and shape, or the same kind of exception."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tetfile
from containers import CONTAINERS, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as strategies

# Keys in all, over all containers.
COUNT = 24_000


def _integer(chance: random.Random, extent: int) -> int:
    # Now and then out of range.
    return chance.randint(-extent - (chance.random() < 0.05), max(extent - 1, 0) + (chance.random() < 0.05))


def _slice(chance: random.Random, extent: int) -> slice:
    def end() -> int | None:
        return None if chance.random() < 0.3 else chance.randint(-extent - 2, extent + 2)

    step = chance.choice([None, None, 1, 2, 3, -1, -1, -2, -4, 0 if chance.random() < 0.02 else 1])
    return slice(end(), end(), step)


def _array(chance: random.Random, extent: int, shape: tuple[int, ...]) -> Any:
    count = int(np.prod(shape, dtype=int))
    values = [_integer(chance, extent) if chance.random() < 0.02 else chance.randrange(-extent, extent) for _ in range(count)]
    array = np.array(values, dtype=chance.choice(["i8", "i4", "i2"])).reshape(shape)
    if chance.random() < 0.2:
        array = np.abs(array).astype(chance.choice(["u1", "u4"]))
    return array.tolist() if array.ndim == 1 and chance.random() < 0.4 else array


def _key(chance: random.Random, shape: tuple[int, ...]) -> Any:
    """A key for an array of this shape: usually a sound one."""
    items: list[Any] = []
    axis = 0
    fancy = chance.choice([(), (3,), (1,), (2, 3), (0,)])
    while axis < len(shape) and chance.random() < 0.9:
        extent, kind = shape[axis], chance.random()
        if kind < 0.25:
            number: Any = _integer(chance, extent)
            items.append(chance.choice([number, number, np.int64(number), np.int16(number), np.array(number)]))
        elif kind < 0.6 or extent == 0:
            items.append(_slice(chance, extent))
        elif kind < 0.75:
            items.append(_array(chance, extent, fancy))
        elif kind < 0.85:
            wrong = chance.random() < 0.03
            mask = np.array([chance.random() < 0.5 for _ in range(extent + wrong)], dtype=bool)
            items.append(mask.tolist() if mask.size and chance.random() < 0.3 else mask)
        elif kind < 0.9 and axis + 1 < len(shape):
            items.append(np.array([chance.random() < 0.4 for _ in range(extent * shape[axis + 1])]).reshape(shape[axis : axis + 2]))
            axis += 1
        else:
            items.append(slice(None))
        axis += 1
    if chance.random() < 0.4:
        items.insert(chance.randint(0, len(items)), ...)
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        items.insert(chance.randint(0, len(items)), chance.choice([None, None, None, True, False, np.True_]))
    if chance.random() < 0.03:
        items.append(chance.choice([0, 1.5, "x", ..., [1.0], np.array("x"), 10**30, [], ()]))
    if len(items) == 1 and chance.random() < 0.5:
        return items[0]
    return tuple(items)


def _outcome(array: Any, key: Any) -> Any:
    try:
        return array[key]
    except (IndexError, TypeError, ValueError) as error:
        return error


def _check(found: Any, wanted: Any, key: Any) -> None:
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), f"{key!r}: {wanted!r}, but {found!r}"
        # A step of zero is a ValueError, everything else of ours is the class of NumPy's.
        assert isinstance(found, type(wanted)), f"{key!r}: {wanted!r}, but {found!r}"
        return
    assert not isinstance(found, Exception), f"{key!r}: {found!r}"
    assert type(found) is type(wanted), f"{key!r}: {type(found)}, not {type(wanted)}"
    assert found.dtype == wanted.dtype.newbyteorder("=") and found.shape == wanted.shape, f"{key!r}: {found.shape}"
    assert np.array_equal(found, wanted), f"{key!r}: {found!r}, not {wanted!r}"


@pytest.mark.parametrize("name", CONTAINERS)
def test_random_keys_give_what_numpy_gives(name: str, tmp_path: Path) -> None:
    path, arrays = write(tmp_path, name)
    with tetfile.open(path) as f:
        names = list(f)
        chance = random.Random(name)
        compared = 0
        for _ in range(COUNT // len(CONTAINERS)):
            which = chance.choice(names)
            array = arrays[which]
            key = _key(chance, array.shape)
            wanted, found = _outcome(array, key), _outcome(f[which], key)
            _check(found, wanted, key)
            compared += not isinstance(wanted, Exception)
        # Most keys are sound: the comparison is one of values.
        assert compared > COUNT // len(CONTAINERS) * 0.7


def _part(chance: random.Random, f: tetfile.File, view: tetfile.Dataset, array: Any) -> tuple[tetfile.Dataset, Any]:
    """A part by integers, slices, and positions in any order, each for its own axis."""
    items: list[Any] = []
    for axis, extent in reversed(list(enumerate(array.shape))):
        start, stop = sorted(chance.randint(0, extent) for _ in range(2))
        step = chance.choice([1, 2])
        some = [chance.randrange(extent) for _ in range(chance.randrange(5))] if extent else []
        choice = chance.choice(["slice", "position", "positions"] if extent else ["slice"])
        item: Any = {"slice": slice(start, stop, step), "position": some[0] if some else 0, "positions": some}[choice]
        array = array[(slice(None),) * axis + (np.array(item, int) if choice == "positions" else item,)]
        even = (start, len(range(start, stop, step)), step)
        items.append({"slice": even, "position": item, "positions": np.array(some, "u8")}[choice])
    return tetfile.Dataset(f, tetfile._tetfile.select(view._core, items[::-1])), array


def test_keys_of_parts_are_keys_of_the_part(tmp_path: Path) -> None:
    path, arrays = write(tmp_path, "hdf5")
    chance = random.Random(5)
    with tetfile.open(path) as f:
        for _ in range(2000):
            which = chance.choice([name for name in f if name.endswith(("_2", "_3", "_4"))])
            array = arrays[which]
            view, wanted = f[which], array
            for _ in range(chance.choice([1, 1, 2, 3])):
                view, wanted = _part(chance, f, view, wanted)
            assert view.shape == wanted.shape
            key = _key(chance, wanted.shape)
            _check(_outcome(view, key), _outcome(np.asarray(wanted), key), key)


def test_scattered_points_are_read_chunk_by_chunk(tmp_path: Path) -> None:
    import h5py

    values = np.arange(3000 * 2000, dtype="i4").reshape(3000, 2000)
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out.create_dataset("x", data=values, chunks=(100, 100))
        out.create_dataset("y", data=values[:1200, :1000].reshape(1200, 10, 100), chunks=(100, 5, 50))
    chance = np.random.default_rng(1)
    with tetfile.open(tmp_path / "x.h5") as f:
        rows, columns = chance.integers(-3000, 3000, 900), chance.integers(-2000, 2000, 900)
        keys: list[Any] = [(rows, columns), (rows.reshape(30, 30), columns.reshape(30, 30)), (rows[:, None], columns[:2])]
        for key in keys:
            assert np.array_equal(f["x"][key], values[key])
        assert np.array_equal(np.diagonal(values)[::2], f["x"][np.arange(0, 2000, 2), np.arange(0, 2000, 2)])
        deep = values[:1200, :1000].reshape(1200, 10, 100)
        far = (chance.integers(0, 1200, 600), slice(None, None, -3), chance.integers(0, 100, 600))
        assert np.array_equal(f["y"][far], deep[far])
        assert np.array_equal(f["y"][(None, *far)], deep[(None, *far)])


def test_results_belong_to_the_caller(files: Path) -> None:
    with tetfile.open(files / "climate.tet") as f:
        first = f["temp"][...]
        first[:] = 0
        assert f["temp"][0, 0, 0] == 288
        assert first.flags.owndata or first.base is not None
        assert first.flags.writeable and f["temp"][::-1].flags.writeable


def test_a_dataset_is_a_sequence_along_its_first_axis(files: Path) -> None:
    with tetfile.open(files / "climate.tet") as f:
        assert len(f["temp"]) == 12
        assert np.array_equal(np.stack(list(f["temp"])), f["temp"][...])
        assert bool(f["temp"])


def test_outer_keys_count_for_their_own_axis(tmp_path: Path) -> None:
    path, arrays = write(tmp_path, "hdf5 deflate")
    chance = random.Random(11)
    with tetfile.open(path) as f:
        for _ in range(2000):
            which = chance.choice([name for name in f if name.endswith(("_1", "_2", "_3", "_4"))])
            array = arrays[which]
            key: list[Any] = []
            for extent in array.shape:
                some = [chance.randrange(-extent, extent) for _ in range(chance.randrange(4))]
                mask = np.array([chance.random() < 0.5 for _ in range(extent)])
                key.append(chance.choice([some, mask, np.array(some, int), _slice(chance, extent), chance.randrange(-extent, extent)]))
            if chance.random() < 0.3:
                key[chance.randrange(len(key)) :] = [...]
            if any(isinstance(item, slice) and item.step == 0 for item in key):
                continue
            wanted = array
            for at in reversed(range(len(key))):
                if key[at] is not ...:
                    item = np.array(key[at], int) if isinstance(key[at], list) else key[at]
                    wanted = wanted[(slice(None),) * at + (item,)]
            found = f[which].oindex[tuple(key)]
            assert np.shape(found) == np.shape(wanted) and np.array_equal(found, wanted), key
        for wrong in [(np.zeros((1, 1), int),), (None,), (99,), ([99],)]:
            with pytest.raises(IndexError):
                f["float64_2"].oindex[wrong]


SHAPE = (7, 1, 5, 4)


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> tuple[tetfile.Dataset, np.ndarray[Any, Any]]:
    values = np.arange(np.prod(SHAPE), dtype="i2").reshape(SHAPE)
    path = tmp_path_factory.mktemp("cube") / "x.npz"
    np.savez(path, x=values)
    tetfile.convert(path, path.with_suffix(".tet"), chunks=(3, 1, 2, 3), codec="zstd")
    return tetfile.open(path.with_suffix(".tet"))["x"], values


KEYS = st.one_of(
    strategies.basic_indices(SHAPE, allow_newaxis=True, max_dims=6),
    strategies.integer_array_indices(SHAPE),
    strategies.integer_array_indices(SHAPE[:2], dtype=np.dtype("i1")),
    strategies.arrays(bool, st.sampled_from([SHAPE[:1], SHAPE[:2], SHAPE, SHAPE[:3]])),
)


@settings(max_examples=3000, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(key=KEYS)
def test_keys_of_hypothesis_give_what_numpy_gives(key: Any, cube: Any) -> None:
    dataset, values = cube
    _check(_outcome(dataset, key), _outcome(values, key), key)
