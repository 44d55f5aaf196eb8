"""Statistics of chunks: when they are used, and whether they are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tetfile


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


def test_other_words_are_refused(made: Path) -> None:
    with pytest.raises(ValueError, match="never, verified, trust"):
        tetfile.open(made / "a.npy", stats="some")  # type: ignore[arg-type]
