"""Zarr that `tet` writes, read by other programs: python written_zarr.py FOLDER TET [--seed N].

Converts arrays of every type (.npz) and datasets of xarray (NetCDF-4, NetCDF classic, Zarr) to Zarr 2 and 3,
folders and zip files, with every codec, with and without shards. zarr-python, with and without consolidated
metadata, and xarray must read the same bits, types, names of axes, coordinates and attributes; `tet verify`
must find nothing; and what is converted back must be the same. Exit code 1 if anything differs.
"""

import argparse
import json
import pathlib
import shutil
import sys
import warnings
import zipfile

import numpy as np
import xarray
import zarr

from written_files import COUNTS, FAILURES, FILLS, NAN_BITS, arrays, check, dataset, random, same, tet

OPTIONS = [
    ("3", ()),
    ("3", ("--codec", "raw")),
    ("3", ("--codec", "raw", "--checksum", "crc32c")),
    ("3", ("--codec", "gzip")),
    ("3", ("--codec", "gzip", "--level", "9", "--checksum", "crc32c")),
    ("3", ("--level", "19", "--shards", "auto")),
    ("2", ()),
    ("2", ("--codec", "raw")),
    ("2", ("--codec", "gzip", "--level", "1")),
]
SHAPES = [
    ("--chunks", "3,4,5"),
    ("--chunks", "20,20,20"),
    ("--chunks", "3,4,5", "--shards", "6,4,15"),
    ("--chunks", "3,4,5", "--shards", "30,40,50", "--codec", "raw"),
    ("--chunks", "1,1,1", "--shards", "auto"),
    ("--shards", "5,11,12"),
    ("--chunks", "3,4,5", "--zarr", "2"),
]


def opened(path, **more):
    """A group, and the store to close."""
    store = zarr.storage.ZipStore(path, mode="r") if path.is_file() else path
    return store, zarr.open_group(store, mode="r", **more)


def of_zarr(path, wanted, version):
    """The values by zarr-python, with consolidated metadata and without."""
    for consolidated in (True, False):
        store, group = opened(path, use_consolidated=consolidated)
        check("zarr format", group.metadata.zarr_format == version, path.name)
        for name, values in wanted.items():
            check("zarr", same(group[name][...], values), f"{path.name} {name}")
        if path.is_file():
            store.close()


def back(program, path, wanted):
    """What was written is clean, and comes back."""
    tet(program, "verify", path)
    again = path.parent / "back.npz"
    tet(program, "convert", path, again, "--force", "-q")
    with np.load(again) as found:
        check("names", set(found) == set(wanted), f"{path.name} {set(found) ^ set(wanted)}")
        for name, values in wanted.items():
            check("back", same(found[name], values), f"{path.name} {name}")


def of_arrays(program, folder, made):
    """Every type, with every codec."""
    np.savez(folder / "all.npz", **made)
    for number, (version, more) in enumerate(OPTIONS):
        for suffix in ("zarr", "zarr.zip"):
            path = folder / f"all_{number}.{suffix}"
            text = tet(program, "convert", folder / "all.npz", path, "--zarr", version, *more)
            check("no loss", "warning" not in text, f"{path.name} {text}")
            of_zarr(path, made, int(version))
            back(program, path, made)


def of_shapes(program, folder, rng):
    """Chunks and shards that do not divide the array, and are larger than it."""
    cube = {"cube": random(rng, "f4", (10, 11, 12))}
    cube["cube"][3:6, 4:8] = 0
    np.savez(folder / "cube.npz", **cube)
    for number, more in enumerate(SHAPES):
        for suffix in ("zarr", "zarr.zip"):
            path = folder / f"cube_{number}.{suffix}"
            tet(program, "convert", folder / "cube.npz", path, "-q", *more)
            of_zarr(path, cube, 2 if "2" in more else 3)
            back(program, path, cube)
            store, group = opened(path)
            asked = {more[at]: more[at + 1] for at in range(0, len(more), 2)}
            for option, found in (("--chunks", group["cube"].chunks), ("--shards", group["cube"].shards)):
                if asked.get(option, "auto") != "auto":
                    text = ",".join(map(str, found))
                    check("shape", text == asked[option], f"{path.name} {option} {text}")


def of_zip(program, folder):
    """Members are stored, each once, below no folder."""
    path = folder / "cube_0.zarr.zip"
    with zipfile.ZipFile(path) as file:
        check("zip", file.testzip() is None, path.name)
        names = file.namelist()
        check("zip names", len(set(names)) == len(names) and names[0] == "zarr.json", str(names[:3]))
        check("zip method", all(it.compress_type == 0 for it in file.infolist()), path.name)
        for name in names:
            if name.endswith("zarr.json"):
                json.loads(file.read(name), parse_constant=lambda word: 1 / 0)
                check("strict JSON", True)


def of_dataset(path, like, **engine):
    """The same dataset in xarray from `path` as from the file that it was made of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with xarray.open_dataset(like, **engine) as wanted:
            wanted.load()
            for consolidated in (True, False):
                source = zarr.storage.ZipStore(path, mode="r") if path.is_file() else path
                with xarray.open_dataset(source, engine="zarr", consolidated=consolidated) as found:
                    found.load()
                    text = f"{path.name}\n{wanted}\n{found}"
                    check("xarray dataset", wanted.identical(found), text)
                    for name in wanted.variables:
                        is_same = wanted[name].dtype == found[name].dtype
                        check("xarray type", is_same, f"{path.name} {name}")
                with xarray.open_zarr(source, consolidated=consolidated) as found:
                    check("open_zarr", wanted.identical(found.load()), path.name)


def of_xarray(program, folder, made):
    """Datasets of xarray: coordinates, times, packed and missing values, attributes."""
    made["missing"] = made.temp.where(made.temp > 275)
    made["missing"].encoding = {"_FillValue": np.float32(-5.5)}
    made["flags"] = (("lat",), np.arange(9, dtype="i1"), {"flag_values": np.arange(3, dtype="i1"), "valid": 0.1})
    sources = {"netcdf.nc": {}, "classic.nc": {}}
    made.to_netcdf(folder / "netcdf.nc")
    classic = {"format": "NETCDF3_64BIT"}
    made.to_netcdf(folder / "classic.nc", engine="scipy", **classic)
    for version in (2, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.to_zarr(folder / f"source{version}.zarr", zarr_format=version)
        sources[f"source{version}.zarr"] = {"engine": "zarr"}
    for name, engine in sources.items():
        for version in ("2", "3"):
            for suffix in ("zarr", "zarr.zip"):
                path = folder / f"of_{name.split('.')[0]}_{version}.{suffix}"
                tet(program, "convert", folder / name, path, "--zarr", version)
                tet(program, "verify", path)
                of_dataset(path, folder / name, **engine)


def filled(path, folder, names=None):
    """A Zarr 3 array of every type with a fill value, of which one chunk is stored."""
    shutil.rmtree(path, ignore_errors=True)
    group = zarr.create_group(path)
    for name, fill in FILLS.items():
        array = group.create_array(
            name, shape=(5, 7), chunks=(2, 3), dtype=fill.dtype, fill_value=fill, dimension_names=names
        )
        array[:2, :3] = np.zeros((2, 3), fill.dtype)
        if name in NAN_BITS:
            # zarr-python reads the bits, and writes "NaN".
            document = json.loads((path / name / "zarr.json").read_text())
            document["fill_value"] = "0x" + fill.tobytes()[::-1].hex()
            (path / name / "zarr.json").write_text(json.dumps(document))


def of_fills(program, folder):
    """Fill values are those of the input, and no missing values where they are none in the input."""
    source = folder / "fills.zarr"
    for names in (None, ("y", "x")):
        filled(source, folder, names)
        wanted = {name: zarr.open_group(source, mode="r")[name][...] for name in FILLS}
        for version in (3, 2):
            for suffix in ("zarr", "zarr.zip"):
                path = folder / f"fills_{version}.{suffix}"
                more = ("--zarr", str(version), "--chunks", "2,3", "--force")
                notes = tet(program, "convert", source, path, *more)
                check("fills without loss", "warning" not in notes, notes)
                tet(program, "verify", path)
                store, group = opened(path)
                for name, fill in FILLS.items():
                    check("fill elements", same(group[name][...], wanted[name]), f"{path.name} {name}")
                    found = group[name].fill_value
                    if version == 3 or (names is None and name not in NAN_BITS):
                        check("fill value", same(np.asarray(found, fill.dtype), fill), f"{path.name} {name} {found!r}")
                        is_sparse = group[name].nchunks_initialized == 1
                        check("fill chunks", is_sparse, f"{path.name} {name} {group[name].nchunks_initialized}")
                    else:
                        check("no fill value", found is None, f"{path.name} {name} {found!r}")
                if path.is_file():
                    store.close()
                if names is not None and suffix == "zarr":
                    of_dataset(path, source, engine="zarr")


def of_shards(program, folder, rng):
    """Shards of the input are those of the output."""
    source, path = folder / "sharded.zarr", folder / "sharded_again.zarr"
    array = zarr.create_group(source).create_array("x", shape=(50, 70), chunks=(5, 7), shards=(20, 70), dtype="f8")
    values = random(rng, "f8", (50, 70))
    array[...] = values
    asked = [((), (5, 7), (20, 70)), (("--shards", "none"), None, None), (("--shards", "10,14"), (5, 7), (10, 14))]
    for more, chunks, shards in [*asked, (("--chunks", "9,9"), (9, 9), None)]:
        tet(program, "convert", source, path, "--force", "-q", *more)
        tet(program, "verify", path)
        found = zarr.open_group(path, mode="r")["x"]
        check("sharded", same(found[...], values), f"{more}")
        check("kept shards", found.shards == shards and chunks in (None, found.chunks), f"{more} {found.shards}")


def of_labels(program, folder):
    """Labels of text are a coordinate."""
    np.savez(folder / "t.npz", t=np.arange(3, dtype="f4"), station=np.array(["a", "\u00e9t\u00e9", ""]))
    for version in ("2", "3"):
        path = folder / f"labels_{version}.zarr"
        tet(program, "convert", folder / "t.npz", path, "--zarr", version, "--dims", "t=station")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with xarray.open_dataset(path, engine="zarr") as found:
                check("labels", list(found.station.values) == ["a", "\u00e9t\u00e9", ""], path.name)
                check("labels", found.t.sel(station="\u00e9t\u00e9").item() == 1.0, path.name)


def of_texts(program, folder):
    """Variables of text are arrays of text, whatever container they come from."""
    grid = np.array([["ab", "\u00e9", ""], ["", "\u65e5\U0001f389", "x" * 300]], object)
    made = xarray.Dataset(
        {"grid": (("y", "x"), grid, {"long_name": "w"}), "one": ((), "\u00fc"), "t": (("x",), np.arange(3.0))},
        {"x": ("x", np.array(["a", "\u00e9t\u00e9", ""], object))},
    )
    for name, form in (("texts.nc", "NETCDF4"), ("chars.nc", "NETCDF4_CLASSIC"), ("classic.nc", "NETCDF3_CLASSIC")):
        made.to_netcdf(folder / name, format=form)
    for version in (2, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.to_zarr(folder / f"texts{version}.zarr", zarr_format=version)
    shapes = [(), ("--codec", "raw"), ("--codec", "gzip"), ("--dataset", "grid", "--chunks", "1,2")]
    sharded = ("--dataset", "grid", "--chunks", "1,2", "--shards", "3,2", "--checksum", "crc32c")
    for source in ("texts.nc", "chars.nc", "classic.nc", "texts2.zarr", "texts3.zarr"):
        for version in ("2", "3"):
            for number, more in enumerate([*shapes, sharded] if version == "3" else shapes):
                for suffix in ("zarr", "zarr.zip"):
                    path = folder / f"texts_{source.split('.')[0]}_{version}_{number}.{suffix}"
                    notes = tet(program, "convert", folder / source, path, "--zarr", version, *more)
                    check("texts left out", "left out" not in notes, notes)
                    tet(program, "verify", path)
                    text_values(path, made, more)
                    back = folder / "texts_back.nc"
                    tet(program, "convert", path, back, "--force", "-q")
                    with xarray.open_dataset(back) as found:
                        is_same = all(list(found[it].values.flat) == list(made[it].values.flat) for it in found.variables)
                        check("texts back", is_same and "grid" in found, path.name)


def text_values(path, made, more):
    """The texts by zarr-python and by xarray."""
    store, group = opened(path)
    names = ["grid"] if "--dataset" in more else ["grid", "one", "x"]
    for name in names:
        found = np.asarray(group[name][...], object)
        is_same = found.shape == made[name].shape and list(found.flat) == list(made[name].values.flat)
        check("zarr texts", is_same, f"{path.name} {name}")
    if "--chunks" in more:
        check("text chunks", group["grid"].chunks == (1, 2), path.name)
        check("text shards", group["grid"].shards == ((3, 2) if "--shards" in more else None), path.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = zarr.storage.ZipStore(path, mode="r") if path.is_file() else path
        with xarray.open_dataset(source, engine="zarr") as found:
            for name in names:
                is_same = list(found[name].values.flat) == list(made[name].values.flat)
                check("xarray texts", is_same and found[name].dims == made[name].dims, f"{path.name} {name}")
            check("xarray text attributes", found.grid.attrs == made.grid.attrs, path.name)
    if path.is_file():
        store.close()


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("tet", type=pathlib.Path)
    words.add_argument("--seed", type=int, default=1)
    asked = words.parse_args()
    folder, program, rng = asked.folder, asked.tet.resolve(), np.random.default_rng(asked.seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = {name.replace("zeros/", "g/zeros/"): values for name, values in arrays(rng).items()}
    made["empty"] = np.zeros((0, 3), "f4")
    of_arrays(program, folder, made)
    of_shapes(program, folder, rng)
    of_zip(program, folder)
    of_xarray(program, folder, dataset(rng))
    of_fills(program, folder)
    of_shards(program, folder, rng)
    of_labels(program, folder)
    of_texts(program, folder)
    print("written Zarr:", COUNTS)
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    main()
