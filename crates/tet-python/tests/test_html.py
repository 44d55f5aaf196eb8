"""What notebooks show of files and datasets."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tetfile
from conftest import hostile_files


class Balanced(HTMLParser):
    """Fails on a tag that is closed in the wrong place."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _checked(html: str) -> str:
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert parser.open == [] and "<script" not in html
    return html


def _picture(html: str) -> np.ndarray[Any, Any]:
    """The colors of the picture, decoded by hand."""
    found = re.search(r'src="data:image/png;base64,([^"]+)"', html)
    assert found is not None, html
    png = base64.b64decode(found[1])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, bodies = 8, {}
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        bodies[kind] = body
        at += 12 + length
    width, height, depth, kind = struct.unpack(">IIBB", bodies[b"IHDR"][:10])
    channels = {2: 3, 6: 4}[kind]
    assert depth == 8
    rows = _unfiltered(zlib.decompress(bodies[b"IDAT"]), height, width * channels, channels)
    return rows.reshape(height, width, channels)[:, :, :3]


def _unfiltered(data: bytes, height: int, length: int, channels: int) -> np.ndarray[Any, Any]:
    """The bytes of the rows, each of which says how it is predicted from its neighbors."""
    rows = np.zeros((height, length), "u1")
    for y in range(height):
        start = y * (length + 1)
        for x, byte in enumerate(data[start + 1 : start + 1 + length]):
            left = int(rows[y, x - channels]) if x >= channels else 0
            up = int(rows[y - 1, x]) if y else 0
            corner = int(rows[y - 1, x - channels]) if y and x >= channels else 0
            nearest = min((left, up, corner), key=lambda near: abs(left + up - corner - near))
            rows[y, x] = (byte + (0, left, up, (left + up) // 2, nearest)[data[start]]) % 256
    return rows


def test_a_dataset_is_a_table_and_a_picture(files: Path) -> None:
    html = _checked(tetfile.open(files / "climate.tet")["temp"]._repr_html_())
    for text in ("float32", "time: 12", "1.5 KiB", "(12, 4, 8)", "units", "294 to 304"):
        assert text in html, text
    colors = _picture(html)
    assert colors.shape == (4, 8, 3)
    # From dark to light, along both axes.
    light = colors.astype(int).sum(axis=2)
    assert (np.diff(light, axis=0) > 0).all() and (np.diff(light, axis=1) > 0).all()


def test_files_and_groups_are_tables(files: Path) -> None:
    with tetfile.open(files / "groups.h5") as f:
        assert "ocean/deep/salt" in _checked(f._repr_html_()) and "3 datasets" in f._repr_html_()
        assert "<b>" in _checked(f["ocean"]._repr_html_()) and "plain" not in f["ocean"]._repr_html_()
    assert "closed" in _checked(f._repr_html_())


def test_a_picture_reads_little(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out.create_dataset("wide", shape=(4, 3000, 50_000), dtype="f4", chunks=(1, 300, 500), compression="gzip")
        out.create_dataset("long", shape=(3_000_000_000,), dtype="f8", chunks=(1000,))
        out.create_dataset("one chunk", shape=(1, 20_000, 20_000), dtype="u1", chunks=(1, 20_000, 20_000), compression="gzip")
        out.create_dataset("contiguous", data=np.arange(12_000_000, dtype="f4").reshape(3000, 4000))
    with tetfile.open(tmp_path / "x.h5") as f:
        for name in ("wide", "long", "contiguous"):
            assert _picture(_checked(f[name]._repr_html_())).size <= 64 * 64 * 3
        assert "<img" not in f["one chunk"]._repr_html_()
        assert "<img" in f["contiguous"].isel({"dim_0": [5, 1, 9]} if f["contiguous"].dims else {})._repr_html_()


@pytest.mark.parametrize("array", [np.zeros((3, 4)), np.full((2, 3), np.nan), np.array(5.0), np.zeros((0, 3)), np.arange(4) > 2])
def test_any_array_has_a_table(array: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", array)
    assert "<table" in _checked(tetfile.open(tmp_path / "x.npy")["x"]._repr_html_())


def test_nan_is_gray_and_infinities_are_the_ends(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[0.0, np.nan, -np.inf], [np.inf, 1.0, 1.0]]))
    colors = _picture(tetfile.open(tmp_path / "x.npy")["x"]._repr_html_())
    assert colors[0, 1].tolist() == [160, 160, 160]
    assert colors[0, 0].tolist() == colors[0, 2].tolist() == [68, 1, 84]
    assert colors[1, 0].tolist() == colors[1, 1].tolist() == [253, 231, 37]


def test_damage_is_shown_and_raises_nothing(files: Path) -> None:
    html = _checked(tetfile.open(files / "broken.tet", digests="always")["temp"]._repr_html_())
    assert "checksum" in html and "float32" in html


def test_hostile_files_are_shown() -> None:
    shown = 0
    for path in hostile_files():
        try:
            f = tetfile.open(path)
        except (tetfile.TetError, OSError):
            continue
        _checked(f._repr_html_())
        for name in list(f)[:20]:
            try:
                dataset = f.dataset(name)
            except tetfile.TetError:
                continue
            _checked(dataset._repr_html_())
            shown += 1
    assert shown > 0
