"""Packed and masked values, decoded or as they are stored, by every command to every output: python decoded.py FOLDER TET.

The truth is xarray's: packed integers with `_FillValue`, `missing_value` and `_Unsigned`, a packed coordinate with packed bounds, times
as integers and as floats, `valid_range`. Values that are written decoded have no attribute that decodes them again. Exit
code 1 if anything differs.
"""

import argparse
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import warnings

import netCDF4
import numpy as np
import safetensors.numpy
import xarray

SHAPE = (4, 5, 3)
DIMS = ("time", "lat", "x")
UNITS = "days since 2001-03-01"
MODES = {"": [], "raw": ["--raw-values"], "decoded": ["--decoded"]}
VALUES = ["npy", "npz", "csv", "json", "raw", "safetensors"]
ATTRIBUTES = ["nc", "nc3", "h5", "zarr", "tet", "tets", "zt", "tgm"]
DECODING = {"scale_factor", "add_offset", "_Unsigned", "missing_value", "_FillValue"}
FAILURES = []
COUNTS = {}


def check(what, is_good, text=""):
    COUNTS[what] = COUNTS.get(what, 0) + 1
    if not is_good:
        FAILURES.append(what)
        print("DIFFERENT", what, text, flush=True)


def variables(rng):
    """Name: (dimensions, stored elements, fill value or None, other attributes)."""
    shorts = rng.integers(-3000, 3000, SHAPE).astype("i2")
    shorts[rng.random(SHAPE) < 0.2] = -32768
    bytes_ = rng.integers(-128, 128, SHAPE).astype("i1")
    floats = rng.normal(10, 3, SHAPE).astype("f4")
    floats[rng.random(SHAPE) < 0.2] = np.float32(1e20)
    integers = rng.integers(0, 1000, SHAPE).astype("i4")
    integers[0, 0], integers[1, 1] = -999, 7
    packed = {"scale_factor": 0.01, "add_offset": 273.15}
    lat, bounds = np.arange(5) * 20 - 40, np.arange(6) * 20 - 50
    hours = np.array([0.25, 0.5, np.nan, 1.75])
    return {
        "time": (("time",), np.array([0, 1, 2, 5], "i4"), None, {"units": UNITS, "calendar": "noleap"}),
        "lat": (("lat",), lat.astype("i2"), np.int16(-1000), {"scale_factor": 0.5, "units": "degrees_north", "bounds": "lat_bnds"}),
        "lat_bnds": (("lat", "two"), np.stack([bounds[:-1], bounds[1:]], 1).astype("i2"), None, {"scale_factor": 0.5}),
        "packed": (DIMS, shorts, np.int16(-32768), packed),
        "packed32": (DIMS, shorts, np.int16(-32768), {"scale_factor": np.float32(0.5)}),
        "offset": (DIMS, shorts, None, {"add_offset": np.float32(5)}),
        "masked": (DIMS, floats, np.float32(1e20), {}),
        "missing": (DIMS, floats, None, {"missing_value": np.float32(1e20)}),
        "two_masks": (DIMS, integers, np.int32(-999), {"missing_value": np.int32(7)}),
        "unsigned": (DIMS, bytes_, np.int8(-1), {"_Unsigned": "true"}),
        "unsigned_packed": (DIMS, bytes_, np.int8(-1), {"_Unsigned": "true", **packed}),
        "range": (DIMS, integers, np.int32(-999), {"valid_range": np.array([0, 500], "i4"), "scale_factor": 2.0}),
        "when": (("time",), np.array([3, 9, -1, 4], "i8"), np.int64(-1), {"units": "hours since 2001-01-01"}),
        "since": (("time",), hours, None, {"units": UNITS, "calendar": "360_day"}),
        "plain": (DIMS, rng.normal(0, 1, SHAPE), None, {}),
    }


def write(path, form, made):
    with netCDF4.Dataset(path, "w", format=form) as file:
        for axis, extent in [*zip(DIMS, SHAPE), ("two", 2)]:
            file.createDimension(axis, extent)
        for name, (dims, stored, fill, attributes) in made.items():
            if form.startswith("NETCDF3") and stored.dtype == np.int64:
                stored, fill = stored.astype("i4"), np.int32(fill)
            variable = file.createVariable(name, stored.dtype, dims, fill_value=fill)
            variable.set_auto_maskandscale(False)
            variable.setncatts(attributes)
            variable[:] = stored


class Source:
    """A file, what it stores, and what xarray decodes of it."""

    def __init__(self, program, folder, name):
        self.program, self.folder, self.name = program, folder, name
        self.stored, self.masked = (self.opened(name, mask_and_scale=it) for it in (False, True))
        self.decoded = self.masked.copy()
        # Masked times that are integers stay integers, which the least of 64 bits is no time of.
        times = self.stored["when"].values.astype("i8")
        self.decoded["when"] = (("time",), np.where(times == -1, np.iinfo("i8").min, times))

    def opened(self, name, **options):
        path = self.folder / name
        with xarray.open_dataset(path, decode_times=False, decode_coords=False, **options) as found:
            return found.load()

    def run(self, *words, good=(0,)):
        command = [self.program, *map(str, words)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=120, check=False)
        check("exit", done.returncode in good, f"{self.name} {words}: {done.stderr.decode()[:300]}")
        return done

    def through(self, name, dataset, *options):
        """The elements that the command reads."""
        target = self.folder / "through.npy"
        target.unlink(missing_ok=True)
        self.run("cat", name, dataset, "-o", "through.npy", *options)
        return np.load(target) if target.exists() else None


def read(path, name, wanted):
    """The elements of an output without attributes."""
    kind = path.suffix[1:]
    if kind in ("npy", "npz"):
        found = np.load(path)
        return found[name] if kind == "npz" else found
    if kind == "safetensors":
        return safetensors.numpy.load_file(path)[name]
    if kind == "raw":
        return np.frombuffer(path.read_bytes(), wanted.dtype).reshape(wanted.shape)
    if kind == "csv":
        with open(path, newline="") as file:
            rows = [row for row in csv.reader(file)]
        return rows
    return json.loads(path.read_text())


def numbers(value):
    """Nested lists of JSON or rows of text, flat: numbers, NaN for what is missing, texts as they are."""
    if isinstance(value, list):
        return [number for each in value for number in numbers(each)]
    if value is None or value in ("", "NaN", "nan"):
        return [np.nan]
    try:
        return [float(value)]
    except ValueError:
        return [value]


def same(found, wanted):
    return found is not None and found.dtype == wanted.dtype and np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f")


def compare_values(source, verb, name, mode, kind):
    """An output without attributes."""
    is_raw = mode == "raw"
    wanted = (source.stored if is_raw else source.decoded)[name].values
    path = source.folder / f"out.{kind}"
    path.unlink(missing_ok=True)
    words = {"cat": ["cat", source.name, name], "query": ["query", source.name, name], "convert": ["convert", source.name]}[verb]
    others = [word for other in {"time", "lat"} - {name} for word in ("--exclude", other)]
    target = [path.name, "--dataset", name, *others] if verb == "convert" else ["-o", path.name]
    done = source.run(*words, *target, *MODES[mode], "-f")
    what = f"{source.name} {verb} {name} {mode} {kind}"
    if done.returncode != 0 or not path.exists():
        return
    try:
        found = read(path, name, wanted)
    except (ValueError, KeyError) as error:
        check("values", False, f"{what}: {error!r}")
        return
    if isinstance(found, np.ndarray):
        check("values", same(found, wanted), f"{what}: {found.dtype} {found.ravel()[:5]}, not {wanted.dtype} {wanted.ravel()[:5]}")
        return
    flat = numbers(found if kind == "csv" else values_of(found))
    kept = [it for it in flat if not isinstance(it, str)]
    texts = [it for it in flat if isinstance(it, str)]
    is_time = name in ("time", "when", "since") and not is_raw
    if is_time:
        if verb == "query":
            # It computes with times as numbers.
            return
        texts = [row[-1] for row in found] if kind == "csv" else texts
        dates = [it for it in texts if it[:4].isdigit()]
        missing = int(np.isnan(source.masked[name].values).sum())
        check("dates", len(set(dates)) == wanted.size - missing and dates[0][:4] == "2001", f"{what}: {texts[:6]}")
        return
    tail = np.array(kept[-wanted.size :]).reshape(-1) if len(kept) >= wanted.size else None
    is_equal = tail is not None and np.array_equal((columns(found, wanted) if kind == "csv" else tail).astype(wanted.dtype if wanted.dtype.kind == "f" else "f8"), wanted.ravel(), equal_nan=True)
    check("texts", is_equal, f"{what}: {kept[:6]}, not {wanted.ravel()[:6]}")


def values_of(document):
    """The elements in a document of JSON."""
    if isinstance(document, dict):
        for key in ("values", "data"):
            if key in document:
                return document[key]
        return next((it for it in map(values_of, document.values()) if it is not None), None)
    if isinstance(document, list) and document and isinstance(document[0], dict):
        return values_of(document[0])
    return document


def columns(rows, wanted):
    """The elements of a table: the last columns of its last rows."""
    count = wanted.size // max(1, len(rows) - 1) if wanted.size % max(1, len(rows) - 1) == 0 else wanted.size // max(1, len(rows))
    rows = rows[-(wanted.size // max(1, count)) :]
    return np.array([numbers(it)[0] for row in rows for it in row[-count:]], "f8")


def compare_attributes(source, verb, mode, kind):
    """An output whose readers decode: all variables at once, or one with what belongs to it."""
    path = source.folder / f"out.{kind}"
    for name in list(source.stored.variables) if verb != "convert" else [None]:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        words = ["convert", source.name, path.name] if name is None else [verb, source.name, name, "-o", path.name]
        done = source.run(*words, *(MODES[mode] if verb != "query" or mode == "raw" else []), "-f")
        if done.returncode == 0 and path.exists():
            is_decoded = mode == "decoded" or verb == "query" and mode != "raw"
            for each in list(source.stored.variables) if name is None else {name, "time", "lat"} & set(source.stored.variables):
                if name is None or each == name or each in source.stored[name].dims:
                    check_written(source, path, each, is_decoded, f"{source.name} {verb} {name or 'all'} {mode} {kind}: {each}")


def check_written(source, path, name, is_decoded, what):
    decoded, stored = source.decoded[name].values, source.stored[name].values
    found = {raw: source.through(path.name, name, *["--raw-values"] * raw) for raw in (False, True)}
    check("decodes", same(found[False], decoded), f"{what}: {found[False] if found[False] is None else found[False].ravel()[:4]}, not {decoded.ravel()[:4]}")
    wanted = decoded if is_decoded else stored
    check("stored", same(found[True], wanted), f"{what}: {found[True] if found[True] is None else (found[True].dtype, found[True].ravel()[:4])}, not {wanted.dtype} {wanted.ravel()[:4]}")
    if path.suffix in (".nc", ".nc3", ".zarr"):
        for mask in (False, True):
            other = source.opened(path.name, mask_and_scale=mask)
            if name in other.variables:
                values = source.masked[name].values if mask else decoded if is_decoded else stored
                found = other[name].values
                if path.suffix == ".zarr" and mask and found.dtype != values.dtype:
                    # Numbers of JSON are float64, whatever the factor was.
                    found = found.astype(values.dtype)
                check("xarray", same(found, values), f"{what} mask_and_scale={mask}: {other[name].dtype} {other[name].values.ravel()[:4]}, not {values.dtype} {values.ravel()[:4]}")
                left = DECODING & set(other[name].attrs) if is_decoded and not mask else set()
                # NaN is NaN, and no time is none, decoded again or not.
                left = {key for key in left if key != "_FillValue" or other[name].attrs[key] in values[values == values]} - (
                    {"_FillValue"} if name == "when" else set()
                )
                check("attributes", not left, f"{what}: {left}")
            else:
                check("xarray", False, f"{what} is not in it")


def summaries(source, name, mode):
    wanted = (source.stored if mode == "raw" else source.decoded)[name].values.astype("f8")
    options = MODES[mode]
    if name in ("time", "when", "since"):
        return
    found = json.loads(source.run("stats", source.name, name, "--json", *options).stdout)["datasets"][0]
    known = [found["count"] - 0, found["min"], found["max"], found["mean"]]
    truth = [np.isfinite(wanted).sum(), np.nanmin(wanted), np.nanmax(wanted), np.nanmean(wanted)]
    is_equal = np.allclose(np.array(known[1:], "f8"), truth[1:], rtol=1e-6)
    check("stats", is_equal and found["count"] in (wanted.size, truth[0]), f"{source.name} {name} {mode}: {known}, not {truth}")
    for op, value in [("mean", np.nanmean(wanted)), ("max", np.nanmax(wanted)), ("min", np.nanmin(wanted))]:
        found = json.loads(source.run("query", source.name, name, f"--{op}", "--json", *options).stdout)["result"]["values"]
        check("query", found is not None and np.isclose(float(found), value, rtol=1e-6), f"{source.name} {name} {mode} {op}: {found}, not {value}")


def compare(source, outputs):
    for name in source.stored.variables:
        for mode in ("", "raw"):
            summaries(source, name, mode)
        for kind in VALUES:
            for verb in ("cat", "convert", "query"):
                for mode in MODES if verb != "query" else ("", "raw"):
                    compare_values(source, verb, name, mode, kind)
    for kind in outputs:
        for verb in ("cat", "convert", "query"):
            for mode in MODES if verb != "query" else ("", "raw"):
                compare_attributes(source, verb, mode, kind)
    source.run("convert", source.name, "copy.nc", "--decoded", "-f")
    source.run("diff", source.name, "copy.nc")
    source.run("diff", source.name, "copy.nc", "--raw-values", good=(1,))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("tet")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="of every container; without, of NetCDF alone")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    shutil.rmtree(args.folder, ignore_errors=True)
    args.folder.mkdir(parents=True)
    program = pathlib.Path(args.tet).resolve()
    made = variables(np.random.default_rng(args.seed))
    write(args.folder / "four.nc", "NETCDF4", made)
    sources = [Source(program, args.folder, "four.nc")]
    if args.all:
        write(args.folder / "classic.nc", "NETCDF3_64BIT_OFFSET", made)
        sources.append(Source(program, args.folder, "classic.nc"))
        for version in (2, 3):
            with xarray.open_dataset(args.folder / "classic.nc", engine="netcdf4", mask_and_scale=False, decode_times=False) as stored:
                stored.to_zarr(args.folder / f"v{version}.zarr", zarr_format=version)
            sources.append(Source(program, args.folder, f"v{version}.zarr"))
    for source in sources:
        compare(source, ATTRIBUTES)
    print("compared", COUNTS, "different", len(FAILURES))
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    main()
