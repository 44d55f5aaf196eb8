"""NetCDF files with true values: python netcdf_files.py FOLDER SEED.

Raw values are those of netCDF4 without masks and scales; decoded values are those of xarray with
`mask_and_scale`. Names are paths through groups; dimensions without a variable are no datasets.
"""

import pathlib
import sys
import warnings

import h5py
import netCDF4
import numpy as np
import xarray

import hdf5_truth
from truth import Truth, attribute, generator, random, smooth, texts

CLASSIC = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
FORMATS = [*CLASSIC, "NETCDF4", "NETCDF4_CLASSIC"]
SHORT = dict(zip(FORMATS, ["cdf1", "cdf2", "cdf5", "nc4", "nc4c"]))
OLD = ["i1", "i2", "i4", "f4", "f8"]
ALL = [*OLD, "u1", "u2", "u4", "i8", "u8"]
CASES = {}


def case(name, *arguments, form="NETCDF4"):
    """Registers a function that fills an open file."""

    def register(fill):
        def write(path, rng):
            with netCDF4.Dataset(path, "w", format=form) as file:
                fill(file, rng, *arguments)

        assert name not in CASES, name
        CASES[name] = write
        return fill

    return register


def in_formats(name, *arguments, forms=FORMATS):
    """Registers a function for several formats."""

    def register(fill):
        for form in forms:
            case(f"{name}_{SHORT[form]}", *arguments, form=form)(fill)
        return fill

    return register


def types(file):
    return ALL if file.data_model in ("NETCDF4", "NETCDF3_64BIT_DATA") else OLD


def axes(file, **extents):
    for name, extent in extents.items():
        file.createDimension(name, extent)


def variable(group, name, dtype, dims, values=None, attrs=(), **options):
    """A variable with raw values."""
    made = group.createVariable(name, dtype, dims, **options)
    made.setncatts(dict(attrs))
    made.set_auto_maskandscale(False)
    if values is not None:
        made[...] = values
    return made


@in_formats("fixed")
def fixed(file, rng):
    axes(file, lat=19, lon=37, one=1)
    variable(file, "lat", "f4", ("lat",), np.linspace(90, -90, 19), {"units": "degrees_north"})
    variable(file, "lon", "f8", ("lon",), np.linspace(0, 350, 37), {"units": "degrees_east"})
    for dtype in types(file):
        variable(file, f"v_{dtype}", dtype, ("lat", "lon"), random(rng, dtype, (19, 37)))
        variable(file, f"s_{dtype}", dtype, (), random(rng, dtype, ()))
        variable(file, f"o_{dtype}", dtype, ("one",), random(rng, dtype, (1,)))
    file.setncatts({"title": "fixed", "numbers": np.array([1.5, 2.5], "f4"), "count": np.int32(3)})


@in_formats("records")
def records(file, rng):
    axes(file, time=None, lat=5, lon=7)
    variable(file, "time", "f8", ("time",), np.arange(11), {"units": "hours since 1900-01-01"})
    for dtype in types(file):
        variable(file, f"v_{dtype}", dtype, ("time", "lat", "lon"), random(rng, dtype, (11, 5, 7)))
        variable(file, f"t_{dtype}", dtype, ("time",), random(rng, dtype, (11,)))
    variable(file, "flat", "f4", ("lat", "lon"), random(rng, "f4", (5, 7)))


for dtype in ("i1", "i2", "f8"):

    @in_formats("one_record_variable_" + dtype, dtype, forms=[*CLASSIC, "NETCDF4"])
    def one_record_variable(file, rng, dtype):
        axes(file, time=None, x=3)
        variable(file, "v", dtype, ("time", "x"), random(rng, dtype, (5, 3)))


@in_formats("no_records")
def no_records(file, rng):
    axes(file, time=None, x=3, none=None) if file.data_model == "NETCDF4" else axes(file, time=None, x=3)
    variable(file, "v", "i2", ("time", "x"))
    variable(file, "w", "f4", ("x",), random(rng, "f4", (3,)))


@in_formats("unwritten")
def unwritten(file, rng):
    axes(file, time=None, x=6, y=4)
    for dtype in types(file):
        variable(file, f"d_{dtype}", dtype, ("x", "y"))
        if dtype != "i1":
            variable(file, f"f_{dtype}", dtype, ("x", "y"), fill_value=7)
        part = variable(file, f"p_{dtype}", dtype, ("time", "x"))
        part[3, 2:4] = 5


@in_formats("text")
def text(file, rng):
    axes(file, name=12, station=3)
    made = file.createVariable("names", "S1", ("station", "name"))
    words = np.array([b"Alpha", b"Beta", b"Gamma Delta"], "S12")
    made[:] = words.view("S1").reshape(3, 12)
    file.createVariable("letter", "S1", ())[...] = b"q"
    variable(file, "x", "i4", ("station",), [1, 2, 3])


# CF: packed and masked values.

PACKED = {
    "i2_f8": ("i2", {"scale_factor": 0.01, "add_offset": 273.15, "_FillValue": np.int16(-999)}),
    "i2_f4": ("i2", {"scale_factor": np.float32(0.01), "add_offset": np.float32(273.15)}),
    "i2_mixed": ("i2", {"scale_factor": np.float32(0.5), "add_offset": np.float64(0.1)}),
    "i2_offset": ("i2", {"add_offset": np.float32(100.0)}),
    "i2_scale": ("i2", {"scale_factor": np.float32(0.5)}),
    "i2_fill": ("i2", {"_FillValue": np.int16(3)}),
    "i1_f4": ("i1", {"scale_factor": np.float32(0.25), "_FillValue": np.int8(-1)}),
    "i1_unsigned": ("i1", {"_Unsigned": "true", "_FillValue": np.int8(-1)}),
    "i1_unsigned_scaled": ("i1", {"_Unsigned": "true", "scale_factor": 0.5, "add_offset": 1.0}),
    "i4_f4": ("i4", {"scale_factor": np.float32(0.001), "_FillValue": np.int32(4)}),
    "i4_f8": ("i4", {"scale_factor": 0.001, "add_offset": -5.0}),
    "i4_valid": ("i4", {"valid_range": np.array([0, 40], "i4"), "_FillValue": np.int32(5)}),
    "f4_missing": ("f4", {"missing_value": np.float32(5.0)}),
    "f4_list": ("f4", {"missing_value": np.array([5.0, 7.0], "f4"), "_FillValue": np.float32(9.0)}),
    "f4_both": ("f4", {"missing_value": np.float32(1e20), "_FillValue": np.float32(1e20)}),
    "f4_nan": ("f4", {"_FillValue": np.float32(np.nan)}),
    "f4_scaled": ("f4", {"scale_factor": np.float32(2.0), "add_offset": np.float32(1.0)}),
    "f4_scaled8": ("f4", {"scale_factor": 2.0, "add_offset": 1.0}),
    "f8_scaled": ("f8", {"scale_factor": np.float32(0.1), "_FillValue": -1.0}),
    "i2_integers": ("i2", {"scale_factor": np.int16(2), "add_offset": np.int32(3)}),
    "i2_missing": ("i2", {"missing_value": np.array([1, 2], "i2"), "scale_factor": 0.1}),
    "i1_truth": ("i1", {"dtype": "bool"}),
}
WIDE = {
    "u1_signed": ("u1", {"_Unsigned": "false", "_FillValue": np.uint8(255)}),
    "u2_f4": ("u2", {"scale_factor": np.float32(0.01), "_FillValue": np.uint16(65535)}),
    "i8_f8": ("i8", {"scale_factor": 0.5, "_FillValue": np.int64(-(2**62))}),
    "u8_fill": ("u8", {"_FillValue": np.uint64(2**63)}),
    "i8_fill": ("i8", {"_FillValue": np.int64(2**53 + 1)}),
}


@in_formats("packed")
def packed(file, rng):
    axes(file, time=None, x=40)
    table = {**PACKED, **(WIDE if types(file) is ALL else {})}
    for name, (dtype, attrs) in table.items():
        attrs = dict(attrs)
        fill = attrs.pop("_FillValue", None)
        values = smooth(rng, dtype, (8, 40))
        values.flat[::9] = values.dtype.type(fill) if fill is not None else 2
        options = {"fill_value": fill} if fill is not None else {}
        variable(file, name, dtype, ("time", "x"), values, attrs, **options)


CALENDARS = ["standard", "gregorian", "proleptic_gregorian", "noleap", "365_day", "all_leap", "360_day", "julian"]


@in_formats("times", forms=["NETCDF3_CLASSIC", "NETCDF4"])
def times(file, rng):
    for number, calendar in enumerate(CALENDARS):
        name = f"time{number}"
        axes(file, **{name: 20})
        attrs = {"units": "days since 1999-12-25", "calendar": calendar, "axis": "T"}
        variable(file, name, "f8", (name,), np.arange(20) * 7.5, attrs)
        variable(file, f"v{number}", "f4", (name,), random(rng, "f4", (20,)))
    for unit in ("hours", "minutes", "seconds", "milliseconds"):
        attrs = {"units": f"{unit} since 2000-01-01T12:00:00Z"}
        variable(file, unit, "i4", ("time0",), np.arange(20) * 1000, attrs)
    variable(file, "old", "f8", ("time0",), np.arange(20), {"units": "days since 1582-10-01"})


@in_formats("coordinates")
def coordinates(file, rng):
    axes(file, time=None, lat=9, lon=12, bounds=2)
    variable(file, "lat", "f4", ("lat",), np.linspace(80, -80, 9), {"standard_name": "latitude"})
    variable(file, "lon", "f4", ("lon",), np.linspace(0, 330, 12), {"standard_name": "longitude"})
    variable(file, "lat_bounds", "f4", ("lat", "bounds"), random(rng, "f4", (9, 2)))
    variable(file, "time", "i4", ("time",), np.arange(6), {"units": "days since 2001-01-01"})
    variable(file, "height", "f8", (), 2.0, {"units": "m"})
    variable(file, "area", "f4", ("lat", "lon"), random(rng, "f4", (9, 12)))
    attrs = {"coordinates": "height", "cell_measures": "area: area", "units": "K"}
    variable(file, "temp", "f4", ("time", "lat", "lon"), random(rng, "f4", (6, 9, 12)), attrs)


@in_formats("names")
def names(file, rng):
    axes(file, **{"x y": 3, "gr\u00fc\u00dfe": 2})
    for name in ("a b", "temp-2m", "\u6e29\u5ea6", "x.y", "_under", "x@y"):
        made = variable(file, name, "i2", ("x y", "gr\u00fc\u00dfe"), random(rng, "i2", (3, 2)))
        made.setncattr("\u00e9t\u00e9", "\u00e9")


# NetCDF-4 alone.


@case("groups")
def groups(file, rng):
    axes(file, x=4)
    variable(file, "x", "f4", ("x",), np.arange(4))
    group = file
    for name in ("a", "b", "c"):
        group = group.createGroup(name)
        group.setncattr("at", name)
        axes(group, y=3 if name == "a" else 5)
        variable(group, "y", "i4", ("y",), np.arange(3 if name == "a" else 5))
        variable(group, "v", "f4", ("x", "y"), random(rng, "f4", (4, 3 if name == "a" else 5)))
    file.createGroup("empty")


@case("several_unlimited")
def several_unlimited(file, rng):
    axes(file, t=None, u=None, x=5)
    variable(file, "tu", "f4", ("t", "u"), random(rng, "f4", (7, 9)))
    variable(file, "xt", "i2", ("x", "t"), random(rng, "i2", (5, 7)))
    variable(file, "txu", "f8", ("t", "x", "u"))[2:5, 1:4, 3:6] = 1.5
    variable(file, "u", "f4", ("u",), np.arange(9))


@case("not_coordinates")
def not_coordinates(file, rng):
    """Variables named as dimensions that they do not have."""
    axes(file, x=4, y=5, z=6)
    variable(file, "x", "f4", ("y",), random(rng, "f4", (5,)))
    variable(file, "y", "f4", ("x", "y"), random(rng, "f4", (4, 5)))
    variable(file, "z", "f4", (), 1.5)
    variable(file, "v", "f4", ("x", "y", "z"), random(rng, "f4", (4, 5, 6)))


@case("dimensions_alone")
def dimensions_alone(file, rng):
    axes(file, a=3, b=None, c=7)
    variable(file, "v", "i4", ("a", "c"), random(rng, "i4", (3, 7)))
    variable(file, "grows", "i4", ("b",))


@case("two_dimensional_coordinate")
def two_dimensional(file, rng):
    axes(file, time=3, name=8)
    made = file.createVariable("time", "S1", ("time", "name"))
    made[:] = np.full((3, 8), b"x")
    variable(file, "v", "f4", ("time",), [1, 2, 3])


STORAGE = {
    "chunked": {"chunksizes": (4, 9, 10)},
    "contiguous": {"contiguous": True},
    "deflate": {"zlib": True, "complevel": 6, "shuffle": False, "chunksizes": (4, 9, 10)},
    "shuffle_deflate": {"zlib": True, "complevel": 1, "chunksizes": (4, 9, 10)},
    "fletcher32": {"fletcher32": True, "chunksizes": (4, 9, 10)},
    "fletcher32_deflate": {"fletcher32": True, "zlib": True, "chunksizes": (4, 9, 10)},
    "zstd": {"compression": "zstd", "chunksizes": (4, 9, 10)},
    "bzip2": {"compression": "bzip2", "chunksizes": (4, 9, 10)},
    "szip": {"compression": "szip", "chunksizes": (4, 9, 10), "szip_pixels_per_block": 8},
    **{
        f"blosc_{inner}": {"compression": f"blosc_{inner}", "chunksizes": (4, 9, 10), "blosc_shuffle": mode}
        for inner, mode in (("lz", 1), ("lz4", 2), ("lz4hc", 1), ("zlib", 0), ("zstd", 2))
    },
    "quantized": {"zlib": True, "significant_digits": 3, "chunksizes": (4, 9, 10)},
    "default": {},
}


def stored(file, rng, options):
    axes(file, z=11, y=19, x=23)
    for dtype in [it for it in ("f4", "i2", "f8", "u1") if it in types(file)]:
        made = {key: value for key, value in options.items() if key != "significant_digits" or dtype[0] == "f"}
        # netCDF-C fails where a chunk does not become smaller.
        values = smooth(rng, dtype, (11, 19, 23)) // 60 if "blosc_shuffle" in options else smooth(rng, dtype, (11, 19, 23))
        variable(file, f"v_{dtype}", dtype, ("z", "y", "x"), values, **made)


for label, options in STORAGE.items():
    case(f"storage_{label}", options)(stored)
case("storage_deflate_classic", STORAGE["shuffle_deflate"], form="NETCDF4_CLASSIC")(stored)


@case("endian")
def endian(file, rng):
    axes(file, x=9)
    for dtype in [it for it in ALL if it[1] != "1"]:
        for order in ("little", "big"):
            variable(file, f"{order}_{dtype}", dtype, ("x",), random(rng, dtype, (9,)), endian=order)
            variable(file, f"{order}_{dtype}_z", dtype, ("x",), random(rng, dtype, (9,)), endian=order, zlib=True)


@case("user_types")
def user_types(file, rng):
    axes(file, x=4)
    clouds = file.createEnumType(np.uint8, "cloud_t", {"clear": 0, "cumulus": 1, "stratus": 7})
    file.createVariable("cloud", clouds, ("x",), fill_value=7)[:] = np.array([0, 1, 7, 1], "u1")
    pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair_t")
    file.createVariable("pair", pair, ("x",))[:] = np.array([(1, 2.5)] * 4, [("a", "i4"), ("b", "f8")])
    lists = file.createVLType(np.int16, "list_t")
    made = file.createVariable("list", lists, ("x",))
    for number in range(4):
        made[number] = np.arange(number, dtype="i2")
    words = file.createVariable("word", str, ("x",))
    words[:] = np.array(["one", "zw\u00f6lf", "", "four"], object)
    variable(file, "x", "i4", ("x",), np.arange(4))


@case("complex_numbers")
def complex_numbers(file, rng):
    axes(file, x=6)
    pair = file.createCompoundType(np.dtype([("r", "f8"), ("i", "f8")]), "complex128")
    values = np.zeros(6, [("r", "f8"), ("i", "f8")])
    values["r"], values["i"] = rng.standard_normal(6), rng.standard_normal(6)
    file.createVariable("c", pair, ("x",))[:] = values


@case("many_variables")
def many_variables(file, rng):
    axes(file, x=5)
    values = smooth(rng, "i4", (400, 5))
    for number in range(400):
        variable(file, f"v{number:03}", "i4", ("x",), values[number], {"number": np.int32(number)})


# Written by xarray.


def by_xarray(name, engine, form, encoding):
    def write(path, rng):
        moments = np.datetime64("2000-01-01", "ns") + np.arange(9) * np.timedelta64(6, "h")
        temp = (("time", "lat", "lon"), smooth(rng, "f8", (9, 6, 8)) / 10 + 250, {"units": "K"})
        mask = (("lat", "lon"), np.where(rng.random((6, 8)) < 0.3, np.nan, 1.5).astype("f4"))
        labels = {"time": moments, "lat": np.linspace(90, -90, 6), "lon": np.arange(0, 80, 10.0)}
        made = xarray.Dataset({"temp": temp, "mask": mask, "n": ((), np.int32(5))}, labels, {"made": "by xarray"})
        made.to_netcdf(path, engine=engine, format=form, encoding=encoding)

    CASES[name] = write


PACK = {"temp": {"dtype": "int16", "scale_factor": 0.1, "add_offset": 250.0, "_FillValue": -999}}
by_xarray("xarray_nc4", "netcdf4", "NETCDF4", {})
by_xarray("xarray_nc4_packed", "netcdf4", "NETCDF4", {"temp": {**PACK["temp"], "zlib": True}})
by_xarray("xarray_nc4_unlimited", "netcdf4", "NETCDF4_CLASSIC", PACK)
by_xarray("xarray_cdf1", "netcdf4", "NETCDF3_CLASSIC", PACK)
by_xarray("xarray_cdf2", "netcdf4", "NETCDF3_64BIT", {})


# Truth.


def record(path, folder):
    """Writes the truth of a file."""
    with netCDF4.Dataset(path) as file:
        is_classic = file.data_model in CLASSIC
        truth = Truth(folder, path.name, "netcdf3" if is_classic else "hdf5")
        record_group(path, truth, file, "")
    if not is_classic:
        with h5py.File(path, "r", locking=False) as file, path.open("rb") as stored:
            for entry in truth.document["datasets"]:
                by_hdf5(truth, entry, file, stored)
    truth.write()


def by_hdf5(truth, entry, file, stored):
    """Chunk places; values of a variable that is shorter than its unlimited dimensions.

    libnetcdf 4.10.1 puts the elements of such a variable in wrong places where it has several.
    """
    group, _, name = entry["name"].rpartition("/")
    group = file[group or "/"]
    dataset = group[f"_nc4_non_coord_{name}" if f"_nc4_non_coord_{name}" in group else name]
    if entry["kind"] != "numbers":
        return
    entry.update(hdf5_truth.places(dataset, stored))
    if list(dataset.shape) != entry["shape"]:
        values = np.full(entry["shape"], dataset.fillvalue, dataset.dtype)
        values[tuple(map(slice, dataset.shape))] = dataset[...]
        truth.replace(entry, values)
        entry["stored_shape"] = list(dataset.shape)


def record_group(path, truth, group, prefix):
    with xarray.open_dataset(
        path, group=prefix or None, engine="netcdf4", decode_times=False, decode_timedelta=False,
        decode_coords=False, concat_characters=False, drop_variables=unread(group),
    ) as decoded:
        for name, made in group.variables.items():
            # `get` makes positions of a dimension without coordinates.
            has = name in decoded.variables
            truth.dataset(prefix + name, **described(made, decoded[name] if has else None))
    for name, inner in group.groups.items():
        record_group(path, truth, inner, f"{prefix}{name}/")


def unread(group):
    """Variables that xarray does not take."""
    odd = {name for name, it in group.variables.items() if type(it.datatype).__name__ in ("CompoundType", "VLType")}
    # Variables named as a dimension that is not their only one.
    used = {axis for it in group.variables.values() for axis in it.dimensions}
    odd |= {name for name, it in group.variables.items() if name in used and it.dimensions != (name,)}
    return odd


def characters(made):
    """The texts of a variable; those of char are along its last axis."""
    values = np.asarray(made[...])
    if made.dtype is str:
        return {"texts": texts(values)}
    if values.ndim:
        width = values.shape[-1]
        joined = np.ascontiguousarray(values.astype("S1")).view(f"S{max(width, 1)}")
        values = joined.reshape(values.shape[:-1]) if width else np.zeros(values.shape[:-1], "S1")
    dims = list(made.dimensions)[: values.ndim]
    return {"texts": texts(values), "shape": list(values.shape), "dims": dims}


def described(made, decoded):
    made.set_auto_maskandscale(False)
    made.set_auto_chartostring(False)
    entry = {"shape": made.shape, "dims": list(made.dimensions), "dtype": str(made.dtype)}
    kind = type(made.datatype).__name__
    if kind == "VLType" or made.dtype is str or np.dtype(made.dtype).kind == "S":
        if kind == "VLType" and made.dtype is not str:
            return {**entry, "kind": "other"}
        return {**entry, "kind": "text", **characters(made)}
    values = np.asarray(made[...])
    if kind == "CompoundType":
        if made.dtype.names != ("r", "i"):
            return {**entry, "kind": "other"}
        values = (values["r"] + 1j * values["i"]).astype("c16")
    attrs = {name: attribute(made.getncattr(name)) for name in made.ncattrs()}
    entry["attrs"] = {name: value for name, value in attrs.items() if value is not None}
    entry.update(kind="numbers", dtype=values.dtype.newbyteorder("=").name, values=values)
    entry["unlimited"] = [it.isunlimited() for it in made.get_dims()]
    if decoded is not None and values.dtype.kind in "iuf":
        cooked = np.asarray(decoded.values)
        is_same = cooked.dtype == values.dtype.newbyteorder("=") and cooked.tobytes() == np.asarray(
            values, values.dtype.newbyteorder("=")).tobytes()
        entry["decoded"] = None if is_same else cooked
    return entry


def main():
    """Writes every case and its truth."""
    folder, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    (folder / "files").mkdir(parents=True, exist_ok=True)
    for name, write in CASES.items():
        path = folder / "files" / f"{name}.nc"
        write(path, generator(seed, name))
        record(path, folder / "truth")
    print(len(CASES), "files")


if __name__ == "__main__":
    main()
