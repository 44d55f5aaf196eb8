"""Files that `tet edit` edits, read and written on by other programs: python edited_files.py FAMILY FOLDER TET.

FAMILY is hdf5, netcdf or zarr. Names and attributes change, and every other value, type, dimension, reference and link
is what it was; then the programs that made the files append to them. Exit code 1 if anything differs.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import warnings

import h5py
import netCDF4
import numpy as np
import xarray
import zarr

warnings.simplefilter("ignore")
NAMES = {"tas": "t2m", "lat": "latitude", "height": "level", "time_bnds": "tb", "crs": "proj"}
FAILURES = []


def check(what, is_good, text=""):
    if not is_good:
        FAILURES.append(what)
        print("WRONG", what, text)


def tet(program, *words, wanted=0):
    done = subprocess.run([program, *map(str, words)], capture_output=True, timeout=300, check=False)
    check("exit", done.returncode == wanted, f"{words}: {done.returncode} {done.stderr.decode()}")


def edit(program, path):
    """The edits of every climate file."""
    tet(program, "edit", "set", path, "tas:units=degC", "title=a new title", "tas:newer=7", "tas:low=-5.5",
        "--unset", "tas:gone", "--unset", "gone")
    tet(program, "edit", "rename", path, *(f"{old}={new}" for old, new in NAMES.items()))
    tet(program, "verify", path)


def same(what, old, new, left_out=()):
    check(what, sorted(new.variables) == sorted(NAMES.get(k, k) for k in old.variables if k not in left_out), list(new.variables))
    for name in set(old.variables) - set(left_out):
        one, other = old.variables[name], new.variables[NAMES.get(name, name)]
        check(f"{what} {name}", one.dtype == other.dtype and np.array_equal(one.values, other.values))
        check(f"{what} {name}", [NAMES.get(dim, dim) for dim in one.dims] == list(other.dims), other.dims)
    attrs = new.variables["t2m"].attrs
    wanted = {"units": "degC", "coordinates": "level", "grid_mapping": "proj", "newer": 7, "low": -5.5}
    check(what, all(attrs.get(key) == value for key, value in wanted.items()) and "gone" not in attrs, attrs)
    check(what, new.attrs.get("title") == "a new title" and "gone" not in new.attrs, new.attrs)
    check(what, new.variables["time"].attrs["bounds"] == "tb")


def climate(path, form, count):
    with netCDF4.Dataset(path, "w", format=form) as file:
        for name, extent in (("time", None), ("lat", 4), ("lon", 5), ("bnds", 2)):
            file.createDimension(name, extent)
        # Many attributes are in a heap.
        for number in range(count):
            file.setncattr(f"g{number:02}", f"global {number}")
        file.gone = "x"
        how = {"zlib": True, "chunksizes": (2, 4, 5)} if form == "NETCDF4" else {}
        time = file.createVariable("time", "f8", ("time",))
        time.units, time.bounds = "days since 2001-01-01", "time_bnds"
        file.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = np.arange(12.0).reshape(6, 2)
        for name in ("lat", "lon"):
            file.createVariable(name, "f8", (name,))[:] = np.arange(file.dimensions[name].size)
        for name in ("height", "crs"):
            file.createVariable(name, "f8", ())[...] = 2
        tas = file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=1e20, **how)
        for number in range(count):
            tas.setncattr(f"a{number:02}", "x" * number + "y")
        tas.setncatts({"units": "K", "coordinates": "height", "grid_mapping": "crs", "gone": 1})
        time[:] = np.arange(6.0)
        tas[:] = np.random.default_rng(0).normal(size=(6, 4, 5))


def netcdf(folder, program):
    for form in ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
        for count in (0, 12):
            what = f"{form} {count}"
            before, path = folder / "before.nc", folder / "after.nc"
            climate(before, form, count)
            shutil.copy(before, path)
            edit(program, path)
            with xarray.open_dataset(before, decode_cf=False) as old, xarray.open_dataset(path, decode_cf=False) as new:
                same(what, old, new)
            with netCDF4.Dataset(path, "a") as file:
                check(what, file.dimensions["time"].isunlimited())
                file.appended = "yes"
                for number in range(20):
                    file["t2m"].setncattr(f"later{number}", "z")
                file["time"][6], file["tb"][6], file["t2m"][6] = 6, [12, 13], 1
                file.createVariable("another", "f4", ("time",))[:] = 1
            with netCDF4.Dataset(path) as file:
                check(what, file["t2m"].shape == (7, 4, 5) and file["t2m"].later19 == "z" and (file["t2m"][6] == 1).all())


def contents(file):
    found = {}
    file.visititems(lambda name, it: found.__setitem__(name, (
        {key: np.array(value).tolist() for key, value in it.attrs.items()},
        it[()].tobytes() if isinstance(it, h5py.Dataset) and it.dtype.kind not in "O" else None)))
    return found


def hdf5(folder, program):
    for version in ("earliest", "latest"):
        for count in (3, 30):
            what, before, path = f"{version} {count}", folder / "before.h5", folder / "after.h5"
            with h5py.File(before, "w", libver=version) as file:
                file.attrs["title"] = "x"
                for number in range(count):
                    made = file.create_dataset(f"g/sub/d{number:02}", data=np.arange(number + 1))
                    made.attrs["u"] = f"m{number}"
                for number in range(12):
                    file["g/sub/d02"].attrs[f"k{number}"] = np.arange(number + 1)
                file["g/events"] = np.zeros(3, dtype=[("t", "f8"), ("c", "i4")])
                file["top"], file["soft"] = np.arange(5.0), h5py.SoftLink("/top")
                file["hard"] = file["g/sub/d01"]
                file["ref"] = np.array([file["g/sub/d02"].ref], dtype=h5py.ref_dtype)
                file["g"].attrs["gu"] = "group"
            shutil.copy(before, path)
            tet(program, "edit", "set", path, "g/sub/d02:k3=5", "g/sub/d01:new=text", "g/gu=of the group", "title=y")
            tet(program, "edit", "rename", path, "g/sub/d0*=g/sub/e0*", "g/events=g/ev")
            # What a soft link leads to has its name for good.
            tet(program, "edit", "rename", path, "top=bottom", wanted=2)
            tet(program, "verify", path)
            with h5py.File(before) as old, h5py.File(path) as new:
                wanted = {name.replace("sub/d0", "sub/e0").replace("events", "ev"): it for name, it in contents(old).items()}
                wanted["g/sub/e02"][0]["k3"] = 5
                # An object of two names is visited under one of them.
                for name in {"g/sub/e01", "hard"} & set(wanted):
                    wanted[name][0]["new"] = "text"
                wanted["g"][0]["gu"] = "of the group"
                found = contents(new)
                for name in set(wanted) & set(found):
                    check(f"{what} {name}", wanted[name] == found[name], (wanted[name][0], found[name][0]))
                check(what, len(set(wanted) ^ set(found)) <= 2, set(wanted) ^ set(found))
                check(what, new["hard"].attrs["new"] == new["g/sub/e01"].attrs["new"] == "text")
                check(what, new.attrs["title"] == "y" and new[new["ref"][0]].attrs["u"] == "m2")
            with h5py.File(path, "a") as file:
                for number in range(30):
                    file[f"g/sub/n{number}"] = number
                    file["g/ev"].attrs[f"q{number}"] = number
                del file["g/sub/e02"]
            with h5py.File(path) as file:
                check(what, len(file["g/sub"]) == count + 29 and file["g/ev"].attrs["q29"] == 29)


def zarr_stores(folder, program):
    values = np.random.default_rng(0).normal(size=(6, 4, 5)).astype("f4")
    attrs = {"units": "K", "coordinates": "height", "grid_mapping": "crs", "gone": 1}
    time = ("time", np.arange(6.0), {"units": "days since 2001-01-01", "bounds": "time_bnds"})
    data = xarray.Dataset(
        {"tas": (("time", "lat", "lon"), values, attrs), "crs": ((), 1), "height": ((), 2.0),
         "time_bnds": (("time", "bnds"), np.arange(12.0).reshape(6, 2))},
        coords={"time": time, "lat": ("lat", np.arange(4.0)), "lon": ("lon", np.arange(5.0))},
        attrs={"title": "t", "gone": 1.5},
    )
    for version in (2, 3):
        for kind in ("consolidated", "plain", "zip"):
            suffix = ".zarr.zip" if kind == "zip" else ".zarr"
            before, path, what = folder / f"before{suffix}", folder / f"after{suffix}", f"zarr {version} {kind}"
            for it in (before, path):
                shutil.rmtree(it, ignore_errors=True)
                it.unlink(missing_ok=True)
            is_one = kind != "plain"
            how = {"zarr_format": version, "consolidated": is_one, "encoding": {"tas": {"chunks": (2, 4, 5)}}}
            if kind == "zip":
                with zarr.storage.ZipStore(str(before), mode="w") as store:
                    data.to_zarr(store, **how)
                shutil.copy(before, path)
            else:
                data.to_zarr(str(before), **how)
                shutil.copytree(before, path)
            edit(program, path)
            tet(program, "edit", "drop", path, "lon")

            def opened(place, consolidated):
                store = zarr.storage.ZipStore(str(place), mode="r") if kind == "zip" else str(place)
                return xarray.open_zarr(store, consolidated=consolidated, decode_cf=False)

            for consolidated in {is_one, False}:
                same(f"{what} {consolidated}", opened(before, consolidated), opened(path, consolidated), ("lon",))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("family", choices=["hdf5", "netcdf", "zarr"])
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("program")
    asked = arguments.parse_args()
    shutil.rmtree(asked.folder, ignore_errors=True)
    asked.folder.mkdir(parents=True)
    {"hdf5": hdf5, "netcdf": netcdf, "zarr": zarr_stores}[asked.family](asked.folder, asked.program)
    print(f"{len(FAILURES)} differ")
    sys.exit(1 if FAILURES else 0)


main()
