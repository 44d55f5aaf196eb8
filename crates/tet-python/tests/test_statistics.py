"""Statistics of chunks: when they are used, and whether they are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tetfile
import tetfile.xarray
import xarray


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """An array in chunks that are long enough to have statistics."""
    np.save(tmp_path / "a.npy", np.arange(1 << 20, dtype="i4").reshape(16, -1))
    return tmp_path


def _with_a_changed_record(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[content.rindex(b"TSTA") + 16] ^= 1
    path.write_bytes(content)


def test_statistics_are_compared_unless_they_are_trusted(made: Path) -> None:
    path = made / "a.tet"
    tetfile.convert(made / "a.npy", path, chunks=[1, 1 << 16], codec="raw")
    for stats in ("verified", "trust", "never"):
        with tetfile.open(path, stats=stats) as f:
            (name,) = f
            assert (f[name].max(), f[name].argmin()) == ((1 << 20) - 1, 0)
    _with_a_changed_record(path)
    with tetfile.open(path) as f, pytest.raises(tetfile.DamagedError):
        f[name].max()
    with tetfile.open(path, stats="never") as f:
        assert f[name].min() == 0
    # The least element of the first chunk is 1 by the changed record.
    with tetfile.open(path, stats="trust") as f:
        assert f[name].min() == 1


def test_statistics_are_left_out(made: Path) -> None:
    for stats in (True, False):
        path = made / f"{stats}.tet"
        tetfile.convert(made / "a.npy", path, chunks=[1, 1 << 16], codec="raw", stats=stats)
        assert (b"TSTA" in path.read_bytes()) == stats


@pytest.mark.parametrize("stats", [True, False])
def test_each_writer_has_the_choice(tmp_path: Path, stats: bool) -> None:
    values = np.arange(1 << 18, dtype="i4").reshape(4, -1)
    spec = tetfile.Spec(values.shape, "i4", chunks=(1, values.shape[1]), dims=("t", "x"))

    def found(name: str) -> bool:
        path = tmp_path / name
        np.testing.assert_array_equal(tetfile.open(path)["a"][-4:], values)
        return b"TSTA" in path.read_bytes()

    with tetfile.create(tmp_path / "created.tet", {"a": spec}, stats=stats) as out:
        out["a"][...] = values
    assert found("created.tet") == stats
    with tetfile.plan(tmp_path / "planned.tet", {"a": spec}, stats=stats).part() as part:
        part["a"][...] = values
    tetfile.WritePlan.of(tmp_path / "planned.tet").publish()
    assert found("planned.tet") == stats
    # An edited copy has them or not, whatever the file had.
    for name in ("created.tet", "planned.tet"):
        tetfile.append(tmp_path / name, {"a": values}, axis="t", stats=not stats)
        assert not found(name) if stats else tetfile.open(tmp_path / name)["a"].shape == (8, values.shape[1])
    data = xarray.Dataset({"a": (("t", "x"), values)})
    for name, one in (("whole.tet", data), ("blocks.tet", data.chunk(t=1))):
        one.tet.to_tet(tmp_path / name, stats=stats)
        assert found(name) == stats
        one.tet.to_tet(tmp_path / name, append_dim="t", stats=stats)
        assert found(name) == stats


def test_statistics_are_of_tet_files(made: Path) -> None:
    with pytest.raises(tetfile.UsageError, match="stats"):
        tetfile.append(made / "a.npy", {"a": np.zeros((1, 1 << 16), "i4")}, stats=False)


def test_other_words_are_refused(made: Path) -> None:
    with pytest.raises(ValueError, match="never, verified, trust"):
        tetfile.open(made / "a.npy", stats="some")  # type: ignore[arg-type]
