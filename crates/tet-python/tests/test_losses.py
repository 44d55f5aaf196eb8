"""What of a file cannot be read is said to those who open it, and is not called missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tetfile
import xarray
from safetensors.numpy import save_file
from test_vanish import DATA, flipped
from tetfile.zarr import Store


def broken(path: Path, name: str, at: int) -> Path:
    """A file with one bit changed."""
    path.write_bytes(flipped("", (DATA / name).read_bytes(), at).data())
    return path


def test_a_root_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """All below it is unknown, also to those who ask for a group."""
    path = broken(tmp_path / "x.h5", "earliest.h5", 174)
    with pytest.warns(UserWarning, match="'/' is left out: .*H5-G1"), xarray.open_dataset(path, engine="tet") as root:
        assert not root.variables
    with pytest.raises(tetfile.DamagedError, match="H5-G1"):
        xarray.open_dataset(path, engine="tet", group="delta")
    with tetfile.open(path) as file, pytest.warns(UserWarning, match="'/' is left out: .*H5-G1"):
        assert file.stats() == {}


def test_a_group_that_cannot_be_read_is_no_group_that_is_not_there(tmp_path: Path) -> None:
    path = broken(tmp_path / "x.h5", "latest.h5", 861)
    with tetfile.open(path) as file:
        assert "\n  delta: ? ?\n" in repr(file) and repr(file["delta"]) == "<tetfile.Dataset delta: ? ?>"
    for group in ("delta", "/delta/deep"):
        with pytest.raises(tetfile.DamagedError, match="H5-O3"):
            xarray.open_dataset(path, engine="tet", group=group)
        with tetfile.open(path) as file, pytest.raises(tetfile.DamagedError, match="H5-O3"):
            file.group(group)
    with pytest.warns(UserWarning, match="'delta' is left out"), pytest.raises(KeyError, match="no group 'epsilon'"):
        with xarray.open_dataset(path, engine="tet"):
            xarray.open_dataset(path, engine="tet", group="epsilon")


def test_an_attribute_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = broken(tmp_path / "x.h5", "dense.h5", 1520)
    message = 'x.h5: error H5-T4.* dataset "member0", attributes'
    with pytest.warns(UserWarning, match=message):
        tetfile.open(path).close()
    with pytest.warns(UserWarning, match=message):
        xarray.open_dataset(path, engine="tet").close()


def test_names_that_no_group_has_are_said(tmp_path: Path) -> None:
    save_file({name: np.zeros(1) for name in ("a", "b//c", "/d")}, tmp_path / "x.safetensors")
    with pytest.warns(UserWarning) as said, xarray.open_dataset(tmp_path / "x.safetensors", engine="tet") as root:
        assert list(root.variables) == ["a"]
    texts = {str(each.message) for each in said}
    assert {text for text in texts if "is left out" in text} == {
        f"{name!r} is left out: no group has a part without a name" for name in ("b//c", "/d")
    }


def test_a_store_says_what_it_leaves_out(tmp_path: Path) -> None:
    path = broken(tmp_path / "x.h5", "latest.h5", 861)
    with pytest.warns(UserWarning, match="datasets of .*x.h5 are left out: 'delta': .*H5-O3"):
        assert list(Store(path).left_out) == ["delta"]
