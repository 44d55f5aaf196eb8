"""Groups have their attributes also where they have no datasets, and paths are those of h5py."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np
import pytest
import tetfile
import tetfile.xarray
import xarray
import zarr
from tetfile.zarr import Store


@pytest.fixture(params=["nc", "zarr"])
def described(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A dataset, and groups that only describe it."""
    path = tmp_path / f"x.{request.param}"
    tree = xarray.DataTree.from_dict(
        {
            "/": xarray.Dataset({"v": ("x", [1.0])}, attrs={"top": 1}),
            "/METADATA": xarray.Dataset(attrs={"title": "m"}),
            "/METADATA/ISO": xarray.Dataset(attrs={"id": 7}),
        }
    )
    if request.param == "nc":
        tree.to_netcdf(path)
    else:
        tree.to_zarr(path, consolidated=False)
    return path


def test_groups_of_attributes_are_groups(described: Path) -> None:
    with tetfile.open(described) as file:
        assert file.attrs == {"top": 1} and file.groups == ["METADATA"]
        assert file["METADATA"].attrs == {"title": "m"} and file.group("METADATA/ISO").attrs == {"id": 7}
        assert file["METADATA"].groups == ["ISO"] and list(file["METADATA"]) == []
        assert "METADATA" in file and list(file.children()) == ["v", "METADATA"]
    with xarray.open_datatree(described, engine="tet") as ours:
        assert {path: node.attrs for path, node in ours.subtree_with_keys} == {
            ".": {"top": 1},
            "METADATA": {"title": "m"},
            "METADATA/ISO": {"id": 7},
        }
    with xarray.open_dataset(described, engine="tet", group="METADATA") as one:
        assert one.attrs == {"title": "m"} and not one.variables
    with xarray.open_dataset(described, engine="tet") as root:
        root.to_netcdf(described.parent / "again.nc")
    assert zarr.open_group(Store(described), mode="r")["METADATA/ISO"].attrs["id"] == 7


def test_a_tet_file_keeps_groups_of_attributes(described: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.tet"
    tetfile.convert(described, copy)
    with tetfile.open(copy) as file:
        assert file.attrs == {"top": 1} and file["METADATA"].attrs == {"title": "m"}


def test_paths_may_begin_and_end_with_a_slash(files: Path) -> None:
    with tetfile.open(files / "groups.h5") as file, h5py.File(files / "groups.h5") as theirs:
        for path in ("/ocean/temp", "ocean/temp", "ocean/temp/", "ocean//temp"):
            np.testing.assert_array_equal(file[path][...], theirs[path][()])
            assert path in file
        assert file["/"] is file and file["/ocean/"].path == "ocean"
        ocean = file["ocean"]
        np.testing.assert_array_equal(ocean["/plain"][...], theirs["ocean"]["/plain"][()])
        np.testing.assert_array_equal(ocean["deep/salt/"][...], theirs["ocean"]["deep/salt"][()])
        for path in ("/nothing", "nothing/", ""):
            assert path not in file
            with pytest.raises(tetfile.NotFoundError):
                file[path]
        with pytest.raises(tetfile.NotFoundError):
            file.group("plain")


def test_one_level_is_listed_as_h5py_lists_it(files: Path) -> None:
    with tetfile.open(files / "groups.h5") as file, h5py.File(files / "groups.h5") as theirs:
        for path in ("/", "ocean", "ocean/deep"):
            assert list(file.group(path).children()) == list(theirs[path])
        kinds = {name: isinstance(each, tetfile.Group) for name, each in file.children().items()}
        assert kinds == {name: isinstance(each, h5py.Group) for name, each in theirs.items()}


def test_a_group_is_a_mapping(files: Path) -> None:
    with tetfile.open(files / "groups.h5") as file:
        assert isinstance(file, Mapping) and len(file) == len(list(file)) == len(file.keys())
        assert list(file.keys()) == list(file) and all(name in file for name in file)
        assert file.keys("*/t*") == ["ocean/temp"] and len(file.keys("*/t*")) == 1
        assert repr(file.keys()) == "['ocean/deep/salt', 'ocean/temp', 'plain']"
        assert file.keys() == {"ocean/deep/salt", "ocean/temp", "plain"} and "ocean" not in file.keys()
        assert file.keys() & {"plain"} == {"plain"}


def test_attributes_are_read_only(files: Path) -> None:
    with tetfile.open(files / "climate.nc") as file:
        for attrs in (file.attrs, file["temp"].attrs, tetfile.open(files / "groups.h5")["ocean"].attrs):
            with pytest.raises(TypeError, match="read-only"):
                attrs["units"] = "m"
            for change in (lambda: attrs.update(a=1), lambda: attrs.pop("units"), attrs.clear, lambda: attrs.setdefault("a", 1)):
                with pytest.raises(TypeError, match="read-only"):
                    change()
        attrs = file["temp"].attrs
        assert attrs == {"units": "K"} and json.dumps(attrs) and pickle.loads(pickle.dumps(attrs)) == attrs
        assert dict(attrs) | {"more": 1} == {"units": "K", "more": 1}


def test_the_tensor_of_the_attributes_is_no_dataset(tmp_path: Path) -> None:
    xarray.Dataset({"v": ("x", [1.0])}, attrs={"t": 1}).to_netcdf(tmp_path / "x.nc")
    tetfile.convert(tmp_path / "x.nc", tmp_path / "x.zt")
    assert list(tetfile.open(tmp_path / "x.zt")) == ["v"]
    assert list(xarray.open_dataset(tmp_path / "x.zt", engine="tet").variables) == ["v"]


@pytest.mark.parametrize("suffix", ["h5", "nc"])
def test_groups_of_attributes_are_groups_of_what_is_written(suffix: str, described: Path, tmp_path: Path) -> None:
    copy = tmp_path / f"copy.{suffix}"
    tetfile.convert(described, copy)
    with h5py.File(copy) as file:
        assert file["METADATA"].attrs["title"] in ("m", b"m") and file["METADATA/ISO"].attrs["id"] == 7
        assert file.attrs["top"] == 1 and not any("/" in name for name in file.attrs)
    with xarray.open_datatree(copy, engine="netcdf4" if suffix == "nc" else "tet") as tree:
        assert tree["METADATA"].attrs == {"title": "m"}


def test_members_of_structures_are_datasets_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as out:
        out["g/events"] = np.array([(1, 2.0), (3, 4.0)], dtype=[("id", "i4"), ("energy", "f8")])
        out["plain"] = np.arange(3)
    with tetfile.open(path) as file:
        events = file["g/events"]
        assert file["g/events.id"][...].tolist() == [1, 3]
        with pytest.raises(tetfile.NotFoundError, match=r"did you mean f\['g/events.id'\]\?"):
            events["id"]
        with pytest.raises(tetfile.NotFoundError, match=r"f\['g/events.id'\] and f\['g/events.energy'\]"):
            events[["id", "energy"]]
        with pytest.raises(tetfile.NotFoundError, match='did you mean "g/events.energy"'):
            events["enrgy"]
        with pytest.raises(tetfile.NotFoundError, match='did you mean "g/events.id"'):
            file["g/events/id"]
        # As NumPy, where there are no members.
        for key in ("id", ["id"]):
            with pytest.raises(IndexError):
                file["plain"][key]
