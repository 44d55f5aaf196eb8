"""Statistics of packed and masked variables, by four programs: python cf_means.py FOLDER TET [--seed N].

Writes NetCDF files with the attributes of the CF conventions (classic and NetCDF-4) and the same
variables as Zarr arrays, and compares `tet query` with xarray, and with `cdo` and `ncwa` where these
decode alike. Arrays that xarray decodes are equal bit for bit; means agree to the rounding of the
type. EXCEPTIONS lists where the programs differ among themselves. Exit code 1 if anything differs.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import netCDF4
import numpy as np
import xarray

SHAPE = (7, 5, 6)
AXES = ("time", "y", "x")
# (program, variable): why its value is another one.
EXCEPTIONS = {
    ("cdo", "unsigned"): "compares _FillValue before it applies _Unsigned",
    ("ncwa", "unsigned"): "does not know _Unsigned",
    ("cdo", "two_masks"): "takes one of _FillValue and missing_value",
    ("ncwa", "two_masks"): "knows _FillValue alone",
    ("ncwa", "missing"): "knows _FillValue alone",
    ("cdo", "range"): "masks by valid_range; tet does with --valid-range",
    ("ncwa", "integers"): "gives means of integers as integers",
}
FAILURES = []
COUNTS = {}


def check(what, is_good, text=""):
    COUNTS[what] = COUNTS.get(what, 0) + 1
    if not is_good:
        FAILURES.append(f"{what}: {text}")
        print("DIFFERENT", what, text)


def variables(rng):
    """Name: (stored elements, fill value or None, other attributes)."""
    shorts = rng.integers(-3000, 3000, SHAPE).astype("i2")
    shorts[rng.random(SHAPE) < 0.1] = -32768
    bytes_ = rng.integers(-128, 128, SHAPE).astype("i1")
    floats = rng.normal(10, 3, SHAPE).astype("f4")
    floats[rng.random(SHAPE) < 0.1] = np.float32(-9.96921e36)
    integers = rng.integers(0, 1000, SHAPE).astype("i4")
    integers[0, 0, :3] = -999
    empty = np.full(SHAPE, -32768, "i2")
    empty[1:, 2, 2] = 5
    return {
        "packed": (shorts, np.int16(-32768), {"scale_factor": 0.01, "add_offset": 273.15}),
        "packed32": (shorts, np.int16(-32768), {"scale_factor": np.float32(0.5)}),
        "mixed": (shorts, np.int16(-32768), {"scale_factor": np.float32(0.5), "add_offset": 1.0}),
        "masked": (floats, np.float32(-9.96921e36), {}),
        "missing": (floats, None, {"missing_value": np.float32(-9.96921e36)}),
        "two_masks": (integers, np.int32(-999), {"missing_value": np.int32(7)}),
        "integers": (integers, np.int32(-999), {}),
        "unsigned": (bytes_, np.int8(-1), {"_Unsigned": "true"}),
        "range": (integers, np.int32(-999), {"valid_range": np.array([0, 500], "i4"), "scale_factor": 2.0}),
        "empty": (empty, np.int16(-32768), {"scale_factor": 0.1}),
        "plain": (rng.normal(0, 1, SHAPE), None, {}),
    }


def write(path, form, made):
    with netCDF4.Dataset(path, "w", format=form) as file:
        for axis, extent in zip(AXES, SHAPE):
            file.createDimension(axis, extent)
        for name, (stored, fill, attributes) in made.items():
            variable = file.createVariable(name, stored.dtype, AXES, fill_value=fill)
            variable.set_auto_maskandscale(False)
            variable.setncatts(attributes)
            variable[:] = stored


def tet(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, timeout=120, check=False)
    check("exit", done.returncode == 0, f"{words}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout


def number(value):
    return float(value) if not isinstance(value, str) else float(value.lower())


def by_cdo(path, name, operator):
    words = ["cdo", "-s", "outputf,%.17g,1", operator, f"-selname,{name}", str(path)]
    done = subprocess.run(words, capture_output=True, timeout=120, check=True)
    return [float(line) for line in done.stdout.split()]


def by_ncwa(path, name, folder):
    out = folder / "mean.nc"
    words = ["ncwa", "-O", "-v", name, str(path), str(out)]
    subprocess.run(words, capture_output=True, timeout=120, check=True)
    with netCDF4.Dataset(out) as file:
        # What it cannot unpack is packed still.
        file.set_auto_mask(False)
        return float(file[name][...])


def close(found, wanted, tolerance):
    found, wanted = np.asarray(found, "f8"), np.asarray(wanted, "f8")
    return found.shape == wanted.shape and np.allclose(found, wanted, rtol=tolerance, atol=0, equal_nan=True)


def compare(program, path, decoded, folder, is_netcdf):
    for name in decoded.data_vars:
        wanted = decoded[name].values
        tolerance = 3e-7 if wanted.dtype == np.float32 else 1e-13
        found = tet(program, "cat", path, name, "--format", "raw", "-o", "-")
        check("bits", found == wanted.tobytes(), f"{path.name} {name}")
        answer = json.loads(tet(program, "query", path, name, "--mean", "--json"))["result"]
        mean = number(answer["values"])
        check("xarray", close(mean, float(decoded[name].mean(dtype="f8")), tolerance), f"{path.name} {name} {mean}")
        masked = int(np.isnan(wanted).sum()) if wanted.dtype.kind == "f" else 0
        check("count", answer["count"] == wanted.size and answer.get("nan_count", 0) == masked, f"{path.name} {name} {answer}")
        for op, reduce in [("mean", "mean"), ("min", "min"), ("max", "max")]:
            answer = json.loads(tet(program, "query", path, name, f"--{op}", "y,x", "--json"))["result"]
            values = [number(it) if it is not None else np.nan for it in answer["values"]]
            wide = decoded[name].astype("f8")
            truth = getattr(wide, reduce)(("y", "x")).values
            check("xarray", close(values, truth, tolerance), f"{path.name} {name} {op} {values} {truth}")
            if is_netcdf and ("cdo", name) not in EXCEPTIONS:
                other = np.array(by_cdo(path, name, f"-fld{op}"))
                filled = np.where(np.isnan(values), other, values)
                check("cdo", close(other, filled, max(tolerance, 1e-12)), f"{path.name} {name} {op} {values} {other}")
        if is_netcdf and ("ncwa", name) not in EXCEPTIONS:
            other = by_ncwa(path, name, folder)
            check("ncwa", close(mean, other, max(tolerance, 1e-12)), f"{path.name} {name} {mean} {other}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("tet")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for needed in ["cdo", "ncwa"]:
        if shutil.which(needed) is None:
            sys.exit(f"{needed} is not installed: the packages cdo and nco have these programs")
    args.folder.mkdir(parents=True, exist_ok=True)
    made = variables(np.random.default_rng(args.seed))
    classic = args.folder / "classic.nc"
    write(classic, "NETCDF3_64BIT_OFFSET", made)
    write(args.folder / "four.nc", "NETCDF4", made)
    for path in [classic, args.folder / "four.nc"]:
        with xarray.open_dataset(path, engine="netcdf4", decode_times=False) as decoded:
            compare(args.tet, path, decoded.load(), args.folder, True)
    for version in [2, 3]:
        path = args.folder / f"v{version}.zarr"
        shutil.rmtree(path, ignore_errors=True)
        with xarray.open_dataset(classic, engine="netcdf4", mask_and_scale=False) as stored:
            stored.to_zarr(path, zarr_format=version)
        with xarray.open_zarr(path) as decoded:
            compare(args.tet, path, decoded.load(), args.folder, False)
    print("compared", COUNTS)
    for (program, variable), why in EXCEPTIONS.items():
        print(f"  not compared: {variable} by {program}, which {why}")
    sys.exit(1 if FAILURES else 0)


main()
