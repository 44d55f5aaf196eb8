"""Files that `tet` writes, read by other programs: python written_files.py FOLDER TET [--seed N].

Makes inputs (.npz, NetCDF-4), converts them to every output that xarray, netCDF4 or SciPy read, and
compares values bit for bit, types, dimensions, coordinates and attributes. Each output is checked by
`tet verify` and converted back. Exit code 1 if anything differs. Zarr is in written_zarr.py.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import warnings

import netCDF4
import numpy as np
import xarray
from scipy.io import netcdf_file

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?"]
CLASSIC = ["i1", "i2", "i4", "f4", "f8"]
FAILURES = []
COUNTS = {}
# Fill values of every type; version 2 of Zarr cannot spell the bits of the last one.
FILLS = {
    **{name: np.array(-9 if name[0] == "i" else 200, name) for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")},
    **{name: np.array(0.1, name) for name in ("f2", "f4", "f8")},
    "minus": np.array(-0.0, "f4"),
    "infinity": np.array(-np.inf, "f8"),
    "nan": np.array(np.nan, "f4"),
    "bool": np.array(True),
    "c8": np.array(complex(-0.0, 2.5), "c8"),
    "c16": np.array(complex(np.inf, -1), "c16"),
    "payload": np.array([0x7FC00001], "u4").view("f4")[0:1].reshape(()),
}
NAN_BITS = ("payload",)


def check(what, is_good, text=""):
    COUNTS[what] = COUNTS.get(what, 0) + 1
    if not is_good:
        FAILURES.append(f"{what}: {text}")
        print("WRONG", what, text)


def same(found, wanted):
    """The same bits and type; orders of bytes do not count."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    found = found.astype(found.dtype.newbyteorder("="))
    wanted = wanted.astype(wanted.dtype.newbyteorder("="))
    return (found.dtype, found.shape, found.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())


def tet(program, *words, wanted=0):
    done = subprocess.run([program, *map(str, words)], capture_output=True, timeout=300, check=False)
    text = done.stderr.decode("utf-8", "replace")
    check("exit", done.returncode == wanted, f"{words}: {done.returncode} {text}")
    return text


def random(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype == bool:
        return rng.random(shape) < 0.5
    count = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(rng.bytes(count), dtype).reshape(shape).copy()


def arrays(rng):
    """Every type, in shapes with and without whole chunks; NaN payloads and -0.0; only zeros."""
    made = {}
    for dtype in DTYPES:
        name = np.dtype(dtype).name
        made[f"{name}_3"] = random(rng, dtype, (5, 7, 11))
        made[f"{name}_1"] = random(rng, dtype, (13,))
        made[f"{name}_0"] = random(rng, dtype, ())
        made[f"zeros/{name}"] = np.zeros((9, 8), dtype)
    made["zeros/minus"] = np.full((9, 8), -0.0, "f4")
    made["zeros/nan"] = np.full((9, 8), np.nan, "f8")
    made["deep/er/x"] = random(rng, "f4", (3, 4))
    return made


def dataset(rng):
    """A dataset of xarray with coordinates, packed values and attributes."""
    time = np.arange("2000-01-01", "2000-01-13", dtype="datetime64[D]").astype("datetime64[ns]")
    coords = {"time": time, "lat": np.linspace(80, -80, 9), "lon": np.arange(0, 360, 30.0)}
    temp = (("time", "lat", "lon"), rng.normal(280, 10, (12, 9, 12)).astype("f4"), {"units": "K"})
    mask = (("lat", "lon"), np.where(rng.random((9, 12)) < 0.3, np.nan, 1.5), {"long_name": "m\u00e4sk"})
    made = xarray.Dataset({"temp": temp, "mask": mask, "height": ((), 2.0)}, coords, {"title": "t"})
    made["packed"] = made.temp + 0
    made["packed"].attrs = {"units": "K"}
    made["packed"].encoding = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -999}
    return made


def of_netcdf(path, wanted, is_classic):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for name, values in wanted.items():
            values = stored_in_netcdf(values)
            check("netCDF4", same(file[name.replace("/", "_")][...], values), f"{path.name} {name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with xarray.open_dataset(path, mask_and_scale=False, decode_cf=False) as file:
            for name, values in wanted.items():
                values = stored_in_netcdf(values)
                check("xarray nc3", same(file[name.replace("/", "_")].values, values), f"{path.name} {name}")
        if is_classic:
            file = netcdf_file(path, mmap=False)
            for name, values in wanted.items():
                found = file.variables[name.replace("/", "_")]
                found = found.data
                check("SciPy", same(found, stored_in_netcdf(values)), f"{path.name} {name}")
            file.close()


def stored_in_netcdf(values):
    """What stands for types that the format lacks."""
    if values.dtype == bool:
        return values.astype("i1")
    if values.dtype == np.float16:
        return values.view("i2")
    if values.dtype.kind == "c":
        part = np.dtype(f"f{values.dtype.itemsize // 2}")
        return np.ascontiguousarray(values).view(part).reshape(*values.shape, 2)
    return values


def back(program, folder, path, wanted):
    """What was written is clean, and comes back."""
    tet(program, "verify", path)
    again = folder / "back.npz"
    tet(program, "convert", path, again, "--force", "-q")
    with np.load(again) as found:
        for name, values in wanted.items():
            name = name if name in found else name.replace("/", "_")
            check("back", same(found[name], values), f"{path.name} {name}")


def of_xarray(path, like):
    """The same dataset in xarray, from `path`, as from the file it was made of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with xarray.open_dataset(path) as found, xarray.open_dataset(like) as wanted:
            found.load(), wanted.load()
            check("xarray dataset", wanted.identical(found), f"{path.name}\n{wanted}\n{found}")
            for name in wanted.variables:
                check("xarray type", wanted[name].dtype == found[name].dtype, f"{path.name} {name}")


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
    classic = {name: it for name, it in made.items() if stored_in_netcdf(it).dtype.str[1:] in CLASSIC}
    np.savez(folder / "classic.npz", **classic)
    for source, wanted in (("all", made), ("classic", classic)):
        path = folder / f"{source}.nc3"
        tet(program, "convert", folder / f"{source}.npz", path, "-q")
        check("version", path.read_bytes()[3] == (5 if source == "all" else 2), path.name)
        of_netcdf(path, wanted, source == "classic")
        back(program, folder, path, wanted)
    source = folder / "xarray.nc"
    like = dataset(rng)
    like.to_netcdf(source)
    output = folder / "x.nc3"
    tet(program, "convert", source, output)
    tet(program, "verify", output)
    of_xarray(output, source)
    print(COUNTS)
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    main()
