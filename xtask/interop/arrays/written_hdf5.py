"""HDF5 and NetCDF-4 files that `tet` writes, read by others: python written_hdf5.py FOLDER TET [--seed N].

Makes inputs (.npz, NetCDF-4, NetCDF classic, HDF5), converts them with every codec, and compares
values bit for bit, types, dimensions, attributes and fill values in h5py, netCDF4, xarray, ncdump,
h5dump, cdo and ncks. Files are appended to by netCDF4 and h5py and read again. Each output is checked
by `tet verify` and converted back. Exit code 1 if anything differs.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import warnings

import h5py
import hdf5plugin  # noqa: F401 (registers filter 32015)
import netCDF4
import numpy as np
import xarray

from written_files import COUNTS, DTYPES, FAILURES, FILLS, check, random, same, tet

CODECS = [
    (), ("--chunks", "3,4,5"), ("--codec", "gzip"), ("--codec", "gzip", "--level", "9", "--filter", "none"),
    ("--codec", "zstd"), ("--codec", "raw", "--filter", "shuffle"), ("--codec", "gzip", "--chunks", "4,7,20"),
]


def other(what, *words):
    """Another program; it must be there, and must succeed."""
    done = subprocess.run([*map(str, words)], capture_output=True, timeout=600, check=False)
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    check(what, done.returncode == 0, f"{words}: {done.returncode} {text[-2000:]}")
    return text


def arrays(rng):
    """Every type, in shapes with and without whole chunks; NaN payloads and -0.0; nothing; groups."""
    made = {}
    for dtype in DTYPES:
        name = np.dtype(dtype).name
        made[f"{name}_3"] = random(rng, dtype, (5, 7, 11))
        made[f"{name}_1"] = random(rng, dtype, (13,))
        made[f"{name}_0"] = random(rng, dtype, ())
        made[f"zeros/{name}"] = np.zeros((9, 8), dtype)
    made["zeros/minus"] = np.full((9, 8), -0.0, "f4")
    made["zeros/nan"] = np.full((9, 8), np.nan, "f8")
    made["empty/a"] = np.zeros((0, 3), "f4")
    made["empty/b"] = np.zeros((3, 0), "i2")
    made["deep/er/x"] = random(rng, "f4", (3, 4))
    return made


def stored_in_netcdf(values):
    """What stands for types that NetCDF lacks."""
    if values.dtype == bool:
        return values.astype("i1")
    if values.dtype == np.float16:
        return values.view("i2")
    if values.dtype.kind == "c":
        part = np.dtype(f"f{values.dtype.itemsize // 2}")
        return np.ascontiguousarray(values).view(part).reshape(*values.shape, 2)
    return values


def of_h5py(path, wanted, more):
    with h5py.File(path) as file:
        for name, values in wanted.items():
            found = file[name]
            check("h5py", same(found[()], values), f"{path.name} {name}")
            if values.ndim == 0:
                continue
            # Elements of one byte are not shuffled.
            is_plain = not more or ("raw" in more and values.dtype.itemsize == 1)
            is_chunked = not is_plain
            check("h5py chunks", (found.chunks is not None) == is_chunked, f"{path.name} {name} {found.chunks}")
            if "gzip" in more:
                check("h5py gzip", found.compression == "gzip", f"{path.name} {name}")
                is_shuffled = "none" not in more and values.dtype.itemsize != 1
                check("h5py shuffle", found.shuffle == is_shuffled, f"{path.name} {name}")


def of_netcdf(path, wanted):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        check("netCDF4 model", file.data_model == "NETCDF4", path.name)
        for name, values in wanted.items():
            values = stored_in_netcdf(values)
            check("netCDF4", same(file[name][...], values), f"{path.name} {name}")
    for name, values in wanted.items():
        group, _, leaf = name.rpartition("/")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with xarray.open_dataset(path, group=group or None, mask_and_scale=False, decode_cf=False) as file:
                check("xarray", same(file[leaf].values, stored_in_netcdf(values)), f"{path.name} {name}")


def back(program, folder, path, wanted):
    """What was written is clean, and comes back."""
    tet(program, "verify", path)
    again = folder / "back.npz"
    tet(program, "convert", path, again, "--force", "-q")
    with np.load(again) as found:
        for name, values in wanted.items():
            check("back", same(found[name], values), f"{path.name} {name}")


def dataset(rng):
    """A dataset of xarray with coordinates, packed values, a record dimension and attributes."""
    time = np.arange("2000-01-01", "2000-01-13", dtype="datetime64[D]").astype("datetime64[ns]")
    coords = {
        "time": time,
        "lat": ("lat", np.linspace(80, -80, 9), {"units": "degrees_north", "standard_name": "latitude"}),
        "lon": ("lon", np.arange(0, 360, 30.0), {"units": "degrees_east", "standard_name": "longitude"}),
    }
    temp = (("time", "lat", "lon"), rng.normal(280, 10, (12, 9, 12)).astype("f4"), {"units": "K"})
    mask = (("lat", "lon"), np.where(rng.random((9, 12)) < 0.3, np.nan, 1.5), {"long_name": "m\u00e4sk"})
    made = xarray.Dataset({"temp": temp, "mask": mask, "height": ((), 2.0)}, coords, {"title": "t", "list": [1, 2]})
    made["packed"] = made.temp + 0
    made["packed"].attrs = {"units": "K", "flag": np.int8(3)}
    made["packed"].encoding = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -999}
    return made


def of_xarray(path, like):
    """The same dataset in xarray, from `path`, as from the file it was made of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with xarray.open_dataset(path) as found, xarray.open_dataset(like) as wanted:
            found.load(), wanted.load()
            check("xarray dataset", wanted.identical(found), f"{path.name}\n{wanted}\n{found}")
            for name in wanted.variables:
                check("xarray type", wanted[name].dtype == found[name].dtype, f"{path.name} {name}")
                kept = ("_FillValue", "scale_factor", "add_offset", "units", "calendar")
                encodings = [{key: it[name].encoding.get(key) for key in kept} for it in (wanted, found)]
                check("xarray encoding", repr(encodings[0]) == repr(encodings[1]), f"{path.name} {name} {encodings}")
            check("xarray unlimited", wanted.encoding["unlimited_dims"] == found.encoding["unlimited_dims"], path.name)


def of_programs(path, like):
    """ncdump, h5dump, cdo and ncks read the file as they read the one it was made of."""
    dumps = [other("ncdump", "ncdump", "-n", "x", it) for it in (path, like)]
    # Attributes are in another order, and text may be in another form.
    lines = [sorted(line.replace("string ", "").strip() for line in it.splitlines()) for it in dumps]
    check("ncdump same", lines[0] == lines[1], f"{path.name}\n{set(lines[0]) ^ set(lines[1])}")
    other("h5dump", "h5dump", "-H", path)
    other("h5dump data", "h5dump", "-d", "/temp", path)
    found = other("cdo diff", "cdo", "-s", "diffv", path, like)
    check("cdo same", "differ" not in found, found)
    sums = [other("cdo info", "cdo", "-s", "infon", it).splitlines()[1:] for it in (path, like)]
    check("cdo infon", sums[0] == sums[1], f"{sums}")
    ncks = [sorted(other("ncks", "ncks", "--cdl", "-v", "temp,packed", it).splitlines()[1:]) for it in (path, like)]
    check("ncks same", ncks[0] == ncks[1], f"{path.name}\n{set(ncks[0]) ^ set(ncks[1])}")


def copies(program, folder, path):
    """Other programs copy and change what was written; `tet` reads their files, bit for bit."""
    wanted = folder / "wanted.npz"
    tet(program, "convert", path, wanted, "--force", "-q")
    for name, words in [
        ("cdo.nc", ["cdo", "-s", "-f", "nc4", "copy", path]),
        ("ncks.nc", ["ncks", "-O", path]),
        ("nccopy.nc", ["nccopy", "-d", "1", "-s", path]),
    ]:
        output = folder / name
        output.unlink(missing_ok=True)
        other(f"{name} copies", *words, output)
        again = folder / "copied.npz"
        tet(program, "convert", output, again, "--force", "-q")
        with np.load(wanted) as first, np.load(again) as second:
            # CDO leaves out variables without a grid.
            for key in ("temp", "mask", "packed") if "cdo" in name else first:
                check(f"{name} same", same(second[key], first[key]), key)


def appended(program, folder, path):
    """netCDF4 appends records, variables, attributes and groups to a copy; all is read again."""
    grown = folder / f"grown_{path.name}"
    shutil.copy(path, grown)
    with netCDF4.Dataset(grown, "a") as file:
        file.set_auto_maskandscale(False)
        before = {name: file[name][...] for name in file.variables}
        count = len(file.dimensions["time"])
        is_unlimited = file.dimensions["time"].isunlimited()
        check("unlimited", is_unlimited, path.name)
        for step in range(count, count + 200):
            file["temp"][step] = np.float32(step)
        added = file.createVariable("added", "f8", ("time", "lon"), zlib=True)
        added[:] = 5.0
        file["temp"].setncatts({f"a{number}": number for number in range(20)})
        file.setncatts({f"a{number}": f"text {number}" for number in range(20)})
        group = file.createGroup("later")
        group.createDimension("n", 3)
        group.createVariable("n", "i4", ("n",))[:] = [1, 2, 3]
        for number in range(30):
            file.createVariable(f"more{number}", "i2", ("lat",))[:] = number
    tet(program, "verify", grown)
    again = folder / "grown.npz"
    tet(program, "convert", grown, again, "--force", "-q")
    with np.load(again) as found:
        check("grown shape", found["temp"].shape[0] == count + 200, f"{found['temp'].shape}")
        for name, values in before.items():
            part = found[name][:count] if values.ndim and found[name].shape[0] != values.shape[0] else found[name]
            check("grown", same(part, values), name)
        steps = np.arange(count, count + 200, dtype="f4")
        check("grown records", bool((found["temp"][count:] == steps[:, None, None]).all()))
        check("grown fill", bool((found["packed"][count:] == -999).all()), "packed")
        check("added", bool((found["added"] == 5.0).all()) and found["more7"].tolist() == [7] * 9)
        check("later", found["later/n"].tolist() == [1, 2, 3])


def hdf5(program, folder, rng):
    """Files of h5py with scales, labels, groups and attributes become such files again."""
    source, output = folder / "source.h5", folder / "again.h5"
    with h5py.File(source, "w") as file:
        x = file.create_dataset("x", data=np.arange(4.0))
        x.make_scale("the x")
        data = file.create_dataset("g/t", data=random(rng, "f4", (3, 4)), maxshape=(None, 4), chunks=(2, 3))
        data.dims[1].attach_scale(x)
        data.dims[0].label = "time"
        data.attrs.update({"units": "K", "range": np.array([1, 2], "u2"), "half": np.float16(0.5), "on": np.bool_(True)})
        data.attrs["names"] = ["a", "b"]
        data.attrs["z"] = np.complex64(1 + 2j)
        file.attrs["title"] = "\u00e4"
        file["g"].attrs["level"] = np.int64(7)
        file.create_dataset("one", data=np.int8(-1)).attrs["long"] = "x" * 100_000
        line = file.create_dataset("line", data=np.arange(3))
        line.dims[0].label = "along"
    for number, more in enumerate([(), ("--codec", "gzip")]):
        tet(program, "convert", source, output, "--force", "-q", *more)
        tet(program, "verify", output)
        with h5py.File(source) as wanted, h5py.File(output) as found:
            for name in ("x", "g/t", "one", "line"):
                check("h5py again", same(found[name][()], wanted[name][()]), name)
                for key, value in wanted[name].attrs.items():
                    if key in ("DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "CLASS", "NAME"):
                        continue
                    one = found[name].attrs[key]
                    is_same = np.asarray(one).dtype == np.asarray(value).dtype and bool(np.all(one == value))
                    check("h5py attribute", is_same, f"{name} {key} {one!r} {value!r}")
            check("scale", found["x"].is_scale and found["g/t"].dims[1]["the x"] == found["x"])
            check("label", found["g/t"].dims[0].label == "time" and found["line"].dims[0].label == "along")
            check("maxshape", found["g/t"].maxshape == (None, 4))
            check("title", found.attrs["title"] == "\u00e4" and found["g"].attrs["level"] == 7)
        with h5py.File(output, "a") as file:
            file["g/t"].resize((50, 4))
            file["g/t"][3:] = 1.0
            file.create_dataset("new", data=[1, 2])
            file["g/t"].dims[1].detach_scale(file["x"])
        tet(program, "verify", output)
        with h5py.File(output) as found, h5py.File(source) as wanted:
            check("resized", same(found["g/t"][:3], wanted["g/t"][()]) and bool((found["g/t"][3:] == 1.0).all()))


def walked(group, path=""):
    """Every variable of a NetCDF file, with its path."""
    for name, variable in group.variables.items():
        yield f"{path}{name}", variable
    for name, inner in group.groups.items():
        yield from walked(inner, f"{path}{name}/")


def netcdf(program, folder, rng):
    """Dimensions in groups, coordinates of two axes, variables with the names of other dimensions."""
    source, output = folder / "names.nc", folder / "names_again.nc"
    with netCDF4.Dataset(source, "w") as file:
        for name, extent in (("x", 3), ("y", 4), ("t", None), ("s", None)):
            file.createDimension(name, extent)
        file.createVariable("x", "f4", ("x", "y"))[:] = random(rng, "i2", (3, 4)).astype("f4")
        file.createVariable("y", "i2", ("x",))[:] = [1, 2, 3]
        file.createVariable("v", "f8", ("t", "s", "x"), fill_value=-1.5)[:2, :5] = 1.0
        file.createVariable("plain", "u8", ("y", "x"))[:] = random(rng, "u1", (4, 3)).astype("u8")
        file.createVariable("t", "i8", ("t",))[:] = [5, 6]
        group = file.createGroup("g")
        group.createDimension("x", 7)
        group.createVariable("x", "i4", ("x",))[:] = np.arange(7)
        group.createVariable("w", "f4", ("x", "y"), chunksizes=(2, 3), zlib=True)[:] = random(rng, "i2", (7, 4))
        inner = group.createGroup("h")
        inner.createVariable("z", "i1", ("t", "x"))[:] = random(rng, "i1", (2, 7))
        inner.setncattr("about", "h")
        file.setncattr_string("names", ["a", "b"])
        file.setncatts({"one": np.int16(1), "some": np.array([1, 2], "f4"), "title": "\u00e4"})
    notes = tet(program, "convert", source, output, "--codec", "gzip")
    check("no notes", "warning" not in notes, notes)
    tet(program, "verify", output)
    with netCDF4.Dataset(source) as wanted, netCDF4.Dataset(output) as found:
        wanted.set_auto_maskandscale(False), found.set_auto_maskandscale(False)
        variables, others = dict(walked(wanted)), dict(walked(found))
        check("variables", set(variables) == set(others), f"{set(variables) ^ set(others)}")
        for name, variable in variables.items():
            one = others[name]
            check("variable", same(one[...], variable[...]) and one.dtype == variable.dtype, name)
            check("dimensions", one.dimensions == variable.dimensions, f"{name} {one.dimensions}")
            check("attributes", one.__dict__.keys() == variable.__dict__.keys(), name)
        for name, dimension in wanted.dimensions.items():
            one = found.dimensions[name]
            check("dimension", (len(one), one.isunlimited()) == (len(dimension), dimension.isunlimited()), name)
        check("order", list(found.variables) == list(wanted.variables), list(found.variables))
        for name in wanted.ncattrs():
            one, other_one = found.getncattr(name), wanted.getncattr(name)
            check("attribute", np.asarray(one).dtype == np.asarray(other_one).dtype, name)
            check("attribute", np.array_equal(one, other_one), name)
        check("group attribute", found["g/h"].about == "h")
    with h5py.File(output) as file:
        fills = netCDF4.default_fillvals
        for name in ("plain", "x", "g/w", "t", "g/x", "g/h/z"):
            kind = file[name].dtype.str[1:]
            check("fill", same(file[name].fillvalue, np.dtype(kind).type(fills[kind])), f"{name} {file[name].fillvalue}")
        check("fill", file["v"].fillvalue == -1.5)


def fills(program, folder):
    """Fill values of the input are those of the output, and mask no other elements than in the input."""
    source = folder / "fills.h5"
    names = {name: fill for name, fill in FILLS.items() if fill.dtype.kind not in "bc" and fill.dtype != "f2"}
    for kind, some in (("all", FILLS), ("numbers", names)):
        with h5py.File(source, "w") as file:
            for name, fill in some.items():
                data = file.create_dataset(name, (5, 7), fill.dtype, chunks=(2, 3), fillvalue=fill)
                data[:2, :3] = np.zeros((2, 3), fill.dtype)
            missing = file.create_dataset("missing", (4,), "i2", fillvalue=np.int16(5))
            missing[:2], missing.attrs["_FillValue"] = [1, 5], np.array([5], "i2")
            file.create_dataset("none", data=np.arange(4.0))
        with h5py.File(source) as file:
            wanted = {name: file[name][...] for name in file}
        for more in ((), ("--codec", "gzip", "--chunks", "2,3", "--exclude", "missing", "--exclude", "none")):
            for suffix in ("h5", "nc"):
                path = folder / f"fills_{kind}_{len(more)}.{suffix}"
                notes = tet(program, "convert", source, path, *more)
                check("fills without loss", suffix == "nc" or "warning" not in notes, notes)
                tet(program, "verify", path)
                fill_values(path, some, wanted)
                if kind == "numbers":
                    same_masks(path, source)
        again = folder / "fills.zarr"
        tet(program, "convert", source, again, "--force", "-q", "--chunks", "2,3", "--exclude", "missing", "--exclude", "none")
        tet(program, "convert", again, folder / "fills_again.h5", "--force", "-q")
        fill_values(folder / "fills_again.h5", some, wanted)


def fill_values(path, some, wanted):
    """The elements and fill values by h5py."""
    is_netcdf = path.suffix == ".nc"
    with h5py.File(path) as file:
        for name, fill in some.items():
            found = file[name]
            values = stored_in_netcdf(wanted[name]) if is_netcdf else wanted[name]
            check("fill elements", same(found[...], values), f"{path.name} {name}")
            if not is_netcdf or fill.dtype.kind != "c":
                fill = stored_in_netcdf(fill) if is_netcdf else fill
                check("fill value", same(found.fillvalue, fill), f"{path.name} {name} {found.fillvalue!r}")
        if "none" in file:
            check("no fill value", file["none"].fillvalue == (netCDF4.default_fillvals["f8"] if is_netcdf else 0))
            check("missing value", file["missing"].fillvalue == 5 and file["missing"].attrs["_FillValue"] == 5)


def same_masks(path, source):
    """netCDF4 and xarray mask the same elements in both files."""
    with netCDF4.Dataset(path) as found, netCDF4.Dataset(source) as wanted:
        for name in found.variables:
            if name in wanted.variables:
                one, other_one = np.ma.asarray(found[name][...]), np.ma.asarray(wanted[name][...])
                is_same = np.array_equal(np.ma.getmaskarray(one), np.ma.getmaskarray(other_one))
                check("same mask", is_same and same(one.data, other_one.data), f"{path.name} {name}")
    with xarray.open_dataset(path, engine="netcdf4") as found, xarray.open_dataset(source, engine="netcdf4") as wanted:
        for name in set(found.variables) & set(wanted.variables):
            check("same values", same(found[name].values, wanted[name].values), f"{path.name} {name}")


def many(program, folder):
    """Thousands of objects in a group, thousands of attributes."""
    wanted = {f"n{number}": np.int32([number]) for number in range(3000)}
    np.savez(folder / "many.npz", **wanted)
    words = [it for number in range(2000) for it in ("--attr", f"n7:a{number}=text {number}")]
    for suffix in ("h5", "nc"):
        path = folder / f"many.{suffix}"
        tet(program, "convert", folder / "many.npz", path, "-q", *words)
        tet(program, "verify", path)
        with h5py.File(path) as file:
            check("many", all(file[name][0] == it[0] for name, it in wanted.items()))
            check("many attributes", len(file["n7"].attrs) >= 2000 and len(file) >= 3000)
        if suffix == "nc":
            with netCDF4.Dataset(path, "a") as file:
                check("many nc", list(file.variables) == list(wanted), len(file.variables))
                file.createVariable("more", "i4", ())[...] = 1
            tet(program, "verify", path)


def labels(program, folder):
    """Labels of axes are coordinates: numbers, or texts."""
    np.savez(folder / "labels.npz", t=np.arange(6.0).reshape(2, 3))
    words = ("--dims", "t=station,year", "--labels", "station=A,B\u00e4", "--labels", "year=2001,2002,2003")
    for suffix in ("nc", "h5"):
        path = folder / f"labels.{suffix}"
        tet(program, "convert", folder / "labels.npz", path, "-q", *words)
        tet(program, "verify", path)
        with xarray.open_dataset(path, engine="netcdf4") as file:
            check("labels", file.station.values.tolist() == ["A", "B\u00e4"], f"{file}")
            check("labels", file.year.values.tolist() == [2001, 2002, 2003] and file.t.dims == ("station", "year"))
        with h5py.File(path) as file:
            check("labels h5", file["station"].asstr()[()].tolist() == ["A", "B\u00e4"])
            check("labels h5", file["t"].dims[0][0] == file["station"])


def words(file):
    """Every dataset of text of an HDF5 file, by name."""
    found = {}
    file.visititems(lambda name, it: found.update({name: it.asstr()[()]}) if h5py.check_string_dtype(getattr(it, "dtype", np.dtype("i1"))) else None)
    return found


def same_texts(found, wanted):
    found, wanted = np.asarray(found, object), np.asarray(wanted, object)
    return found.shape == wanted.shape and bool(np.all(found == wanted))


def texts(program, folder):
    """Datasets of text are texts in HDF5, NetCDF-4 and Zarr, and come back."""
    kind, source = h5py.string_dtype(), folder / "texts.h5"
    grid = [["ab", "\u00e9", "", "x" * 300], ["", "\u65e5\U0001f389", "a\"b\n", " y "], ["c"] * 4]
    many = [f"text {number}" * (number % 4) for number in range(150_000)]
    with h5py.File(source, "w") as file:
        file.create_dataset("grid", data=np.array(grid, object), dtype=kind)
        file.create_dataset("one", data="\u00fc", dtype=kind)
        file.create_dataset("none", data=np.array([], object), dtype=kind)
        file.create_dataset("g/fixed", data=np.array([b"ab", b"", b"cde"]))
        file.create_dataset("g/utf8", data=np.array(["\u00e9".encode(), b"b"], h5py.string_dtype("utf-8", 3)))
        file.create_dataset("many", data=np.array(many, object), dtype=kind, chunks=(1000,), maxshape=(None,))
        file.create_dataset("absent", (4, 5), kind, chunks=(3, 3))
        station = file.create_dataset("station", data=np.array(["A", "B\u00e4", "01"], object), dtype=kind)
        station.make_scale("station")
        station.attrs["long_name"] = "name"
        file.create_dataset("t", data=np.arange(3.0)).dims[0].attach_scale(station)
        wanted = words(file)
    check("texts", len(wanted) == 8, sorted(wanted))
    for number, more in enumerate([(), ("--codec", "gzip"), ("--chunks", "2,3", "--dataset", "grid", "--dataset", "absent")]):
        for suffix in ("h5", "nc", "zarr", "zarr.zip"):
            path = folder / f"texts_{number}.{suffix}"
            notes = tet(program, "convert", source, path, *more)
            check("texts left out", "left out" not in notes, notes)
            tet(program, "verify", path)
            for again in ("h5", "nc"):
                back = folder / f"texts_back.{again}"
                tet(program, "convert", path, back, "--force", "-q")
                asked = {it: wanted[it] for it in ("grid", "absent")} if number == 2 else wanted
                for name in (path, back):
                    text_values(name, asked)
    with xarray.open_dataset(folder / "texts_0.nc") as file:
        check("xarray text", file.station.values.tolist() == ["A", "B\u00e4", "01"] and file.t.dims == ("station",))
        check("xarray text", file.station.attrs == {"long_name": "name"} and same_texts(file.grid.values, grid))
    other("ncdump", "ncdump", folder / "texts_0.nc")
    other("h5dump", "h5dump", folder / "texts_0.h5")
    with netCDF4.Dataset(folder / "texts_0.nc", "a") as file:
        file["many"][150_000] = "more"
        file["grid"][0, 0] = "changed"
    with netCDF4.Dataset(folder / "texts_0.nc") as file:
        check("appended text", file["many"][149_999:].tolist() == [many[-1], "more"] and file["grid"][0, 0] == "changed")
    tet(program, "verify", folder / "texts_0.nc")


def text_values(path, wanted):
    """The texts of an output by h5py, and of NetCDF-4 by netCDF4."""
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            found = words(file)
        check("h5py texts", set(found) == set(wanted) and all(same_texts(found[it], wanted[it]) for it in found), path.name)
    if path.suffix == ".nc":
        with netCDF4.Dataset(path) as file:
            for name, values in wanted.items():
                found = file[name]
                check("netCDF4 texts", found.dtype is str and same_texts(found[...], values), f"{path.name} {name}")


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("tet", type=pathlib.Path)
    words.add_argument("--seed", type=int, default=1)
    asked = words.parse_args()
    folder, program, rng = asked.folder, asked.tet.resolve(), np.random.default_rng(asked.seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = arrays(rng)
    np.savez(folder / "all.npz", **made)
    three = {name: it for name, it in made.items() if it.ndim == 3}
    np.savez(folder / "three.npz", **three)
    for number, more in enumerate(CODECS):
        source, wanted = ("three", three) if "--chunks" in more else ("all", made)
        for suffix in ("h5", "nc"):
            path = folder / f"{source}_{number}.{suffix}"
            tet(program, "convert", folder / f"{source}.npz", path, "-q", *more)
            if suffix == "h5":
                of_h5py(path, wanted, more)
            else:
                of_netcdf(path, wanted)
            back(program, folder, path, wanted)
    like = dataset(rng)
    for number, (form, unlimited) in enumerate([("NETCDF4", ["time"]), ("NETCDF3_CLASSIC", ["time"])]):
        source = folder / f"xarray_{number}.nc"
        like.to_netcdf(source, format=form, unlimited_dims=unlimited)
        for more in ((), ("--codec", "gzip")):
            path = folder / f"written_{number}_{len(more)}.nc"
            tet(program, "convert", source, path, *more)
            tet(program, "verify", path)
            of_xarray(path, source)
            of_programs(path, source)
            copies(program, folder, path)
            appended(program, folder, path)
    hdf5(program, folder, rng)
    netcdf(program, folder, rng)
    fills(program, folder)
    many(program, folder)
    labels(program, folder)
    texts(program, folder)
    print(COUNTS)
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    main()
