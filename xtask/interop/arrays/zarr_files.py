"""Zarr stores with true values: python zarr_files.py FOLDER SEED.

Each case fills a group, in format 2 or 3, in a folder or a zip file. The truth is what zarr reads
back. Attributes of the names of axes and the element order are no part of it.
"""

import base64
import json
import pathlib
import shutil
import sys
import warnings
import zipfile

import h5py
import numcodecs
import numpy as np
import zarr
from zarr import codecs
from zarr.codecs import numcodecs as more

from truth import Truth, attribute, generator, random, smooth, texts

NUMBERS = ["bool", *"i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()]
SHAPE, CHUNKS = (37, 23), (10, 7)
CASES = {}


def case(name, *arguments, forms=(2, 3), stores=("",), ways=("",)):
    """Registers a function that fills a group, for formats, stores and ways to write them."""

    def register(fill):
        for form in forms:
            for store in stores:
                for way in ways:
                    full = "_".join(part for part in (name, f"v{form}", store, way) if part)
                    assert full not in CASES, full
                    CASES[full] = (fill, arguments, form, store, way)
        return fill

    return register


def made_of(path, fill, arguments, form, way, rng):
    """Writes a store."""
    store = zarr.storage.ZipStore(path, mode="w") if path.suffix == ".zip" else zarr.storage.LocalStore(path)
    root = zarr.create_group(store, zarr_format=form, attributes={"title": fill.__name__})
    fill(root, rng, *arguments)
    if way == "consolidated":
        zarr.consolidate_metadata(store, zarr_format=form)
    store.close()


def add(group, name, values, chunks=CHUNKS, **options):
    """An array with values; what has the fill value everywhere is not written."""
    values = np.asarray(values)
    chunks = tuple(min(most, max(extent, 1)) for most, extent in zip(chunks, values.shape))
    options.setdefault("compressors", None)
    array = group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=options.pop("exact", chunks),
                               **options)
    if values.size:
        array[...] = values
    return array


def packed(form):
    """The plainest compressor of a format."""
    return numcodecs.Zstd(3) if form == 2 else codecs.ZstdCodec(level=3)


@case("types", stores=("", "zip"), ways=("", "consolidated"))
def types(root, rng):
    form = root.metadata.zarr_format
    for name in NUMBERS:
        dtype = np.dtype(name)
        add(root, f"raw/{dtype.name}", random(rng, dtype, SHAPE))
        add(root, f"packed/{dtype.name}", smooth(rng, dtype, SHAPE), compressors=packed(form))
        if form == 3:
            big = codecs.BytesCodec(endian="big")
            add(root, f"big/{dtype.name}", random(rng, dtype, SHAPE), serializer=big)
        elif dtype.itemsize > 1:
            add(root, f"big/{dtype.name}", random(rng, dtype.newbyteorder(">"), SHAPE))


@case("shapes", stores=("", "zip"))
def shapes(root, rng):
    add(root, "scalar", random(rng, "f4", ()), exact=())
    add(root, "scalar_empty", np.zeros((), "i4"), exact=())
    for rank in range(1, 7):
        add(root, f"rank{rank}", random(rng, "i4", (3,) * rank), exact=(2,) * rank)
    for shape in ((0,), (0, 4), (4, 0, 3)):
        add(root, "zero" + "_".join(map(str, shape)), np.zeros(shape, "f4"), exact=tuple(max(it, 1) for it in shape))
    add(root, "larger", random(rng, "f8", (3, 5)), exact=(10, 8))
    add(root, "one_chunk", random(rng, "f8", (3, 5)), exact=(3, 5))
    add(root, "single", random(rng, "i2", (7, 3)), exact=(1, 1))
    add(root, "many", smooth(rng, "i2", (200, 30)), exact=(3, 4))


@case("orders")
def orders(root, rng):
    form = root.metadata.zarr_format
    for number, order in enumerate(((2, 1, 0), (1, 2, 0), (0, 2, 1), (2, 0, 1))):
        values = random(rng, "f4", (9, 8, 7))
        if form == 3:
            turned = codecs.TransposeCodec(order=order)
            add(root, f"transposed{number}", values, exact=(4, 3, 5), filters=[turned], compressors=packed(3))
            add(root, f"twice{number}", values, exact=(4, 3, 5), filters=[turned, turned])
        else:
            add(root, f"fortran{number}", values[: 9 - number], exact=(4, 3, 5), order="F")
            add(root, f"fortran_packed{number}", values, exact=(4, 3, 5), order="F", compressors=packed(2))
    if form == 2:
        add(root, "fortran_big", random(rng, ">i2", SHAPE), order="F")


FILLS = {
    "i4": [0, -7, 2**31 - 1], "u8": [0, 2**64 - 1], "i8": [-(2**63)], "bool": [False, True],
    "f4": [0.0, -0.0, 1.5, np.nan, np.inf, -np.inf, 1e-40], "f8": [0.1, np.nan, 1e300], "f2": [0.5, np.nan],
    "c8": [0j, 1.5 - 2j, complex(np.nan, np.inf)], "c16": [complex(0.1, -0.0)],
}


@case("fills", stores=("", "zip"))
def fills(root, rng):
    for dtype, values in FILLS.items():
        for number, fill in enumerate(values):
            array = root.create_array(f"{dtype}_{number}", shape=SHAPE, chunks=CHUNKS, dtype=dtype, fill_value=fill,
                                      compressors=None)
            array[:10, :7] = random(rng, dtype, (10, 7))
            array[30:, 14:] = random(rng, dtype, (7, 9))


@case("fill_spellings")
def fill_spellings(root, rng):
    """Fill values that are written by hand into the documents."""
    form = root.metadata.zarr_format
    spelled = {
        "nan": ("f4", "NaN", np.nan), "infinity": ("f8", "Infinity", np.inf),
        "minus": ("f4", "-Infinity", -np.inf), "integer": ("f8", 5, 5.0), "small": ("i2", -5, -5),
    }
    if form == 3:
        nan = np.array([0x7FC00123], "u4").view("f4")[0]
        spelled |= {"hex": ("f4", "0x7fc00123", nan), "hex8": ("f8", "0x3ff8000000000000", 1.5),
                    "pair": ("c8", ["NaN", "-Infinity"], complex(np.nan, -np.inf)), "hexes": ("c8", ["0x3fc00000", 2], 1.5 + 2j)}
    else:
        spelled |= {"null": ("i4", None, 0), "null_float": ("f4", None, 0.0)}
    for name, (dtype, _, value) in spelled.items():
        array = root.create_array(name, shape=(9,), chunks=(4,), dtype=dtype, fill_value=value, compressors=None)
        array[4:8] = random(rng, dtype, (4,))
    folder = pathlib.Path(root.store.root)
    for name, (dtype, text, value) in spelled.items():
        document = folder / name / ("zarr.json" if form == 3 else ".zarray")
        content = json.loads(document.read_text())
        content["fill_value"] = text
        document.write_text(json.dumps(content))


@case("keys")
def keys(root, rng):
    form = root.metadata.zarr_format
    for name in ("default", "v2") if form == 3 else ("v2",):
        for separator in ("/", "."):
            key = {"name": name, "separator": separator}
            label = name + ("_slash" if separator == "/" else "_dot")
            add(root, label, random(rng, "i4", SHAPE), chunk_key_encoding=key)
            add(root, f"{label}_scalar", random(rng, "i4", ()), exact=(), chunk_key_encoding=key)
            add(root, f"{label}_line", random(rng, "i4", (9,)), exact=(2,), chunk_key_encoding=key)


@case("groups", stores=("", "zip"), ways=("", "consolidated"))
def groups(root, rng):
    group = root
    for name in ("a", "b", "gr\u00fc\u00dfe", "x y", "#1"):
        group = group.create_group(name, attributes={"depth": name})
        options = {"dimension_names": ("time", None)} if root.metadata.zarr_format == 3 else {}
        array = add(group, "values", random(rng, "f4", SHAPE), **options)
        array.attrs.update({"units": "K", "valid": [1.5, 2.5], "count": 3})
    root.create_group("empty")


@case("axes", ways=("", "consolidated"))
def axes(root, rng):
    for name, dims in (("temp", ("time", "lat", "lon")), ("time", ("time",)), ("lat", ("lat",)), ("lon", ("lon",))):
        shape = tuple({"time": 5, "lat": 6, "lon": 7}[dim] for dim in dims)
        if root.metadata.zarr_format == 3:
            add(root, name, random(rng, "f4", shape), exact=shape, dimension_names=dims)
        else:
            add(root, name, random(rng, "f4", shape), exact=shape).attrs["_ARRAY_DIMENSIONS"] = list(dims)


# Codecs. A chain is given as the options of an array.

BLOSC = [(inner, shuffle) for inner in ("blosclz", "lz4", "lz4hc", "zlib", "zstd") for shuffle in (0, 1, 2)]
SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"]
COMPRESSORS = {
    "zstd": (numcodecs.Zstd(5), codecs.ZstdCodec(level=5, checksum=True)),
    "gzip": (numcodecs.GZip(6), codecs.GzipCodec(level=6)),
    "zlib": (numcodecs.Zlib(6), more.Zlib(level=6)), "lz4": (numcodecs.LZ4(), more.LZ4()),
    "bz2": (numcodecs.BZ2(), more.BZ2(level=3)), "lzma": (numcodecs.LZMA(), more.LZMA(preset=1)),
    "crc32": (numcodecs.CRC32(), more.CRC32()), "crc32c": (numcodecs.CRC32C(), codecs.Crc32cCodec()),
    "adler32": (numcodecs.Adler32(), more.Adler32()), "fletcher32": (numcodecs.Fletcher32(), more.Fletcher32()),
    **{
        f"blosc_{inner}_{SHUFFLES[shuffle]}": (
            numcodecs.Blosc(inner, 5, shuffle), codecs.BloscCodec(cname=inner, shuffle=SHUFFLES[shuffle], typesize=4),
        )
        for inner, shuffle in BLOSC
    },
}


@case("compressors", stores=("", "zip"))
def compressors(root, rng):
    which = root.metadata.zarr_format - 2
    for name, made in COMPRESSORS.items():
        for dtype in ("f4", "i2", "u1"):
            add(root, f"{name}/{dtype}", smooth(rng, dtype, SHAPE), compressors=made[which])
        add(root, f"{name}/noise", random(rng, "f4", SHAPE), compressors=made[which])
        add(root, f"{name}/long", smooth(rng, "f4", (300, 200)), exact=(300, 200), compressors=made[which])


FILTERS = {
    "delta": ("Delta", "i4", {"dtype": "<i4"}), "delta_u2": ("Delta", "u2", {"dtype": "<u2"}),
    "delta_f4": ("Delta", "f4", {"dtype": "<f4"}),
    "delta_wide": ("Delta", "i2", {"dtype": "<i2", "astype": "<i4"}),
    "fixedscaleoffset": ("FixedScaleOffset", "f8", {"offset": 10, "scale": 10, "dtype": "<f8", "astype": "<u2"}),
    "quantize": ("Quantize", "f4", {"digits": 2, "dtype": "<f4"}), "bitround": ("BitRound", "f4", {"keepbits": 5}),
    "packbits": ("PackBits", "bool", {}), "astype": ("AsType", "f4", {"encode_dtype": "<f4", "decode_dtype": "<f8"}),
    "shuffle": ("Shuffle", "f4", {"elementsize": 4}), "shuffle5": ("Shuffle", "u1", {"elementsize": 5}),
}


@case("filters")
def filters(root, rng):
    form = root.metadata.zarr_format
    for name, (kind, dtype, options) in FILTERS.items():
        source = numcodecs if form == 2 else more
        made = getattr(source, kind)(**options)
        dtype = "f8" if name == "astype" else dtype
        values = smooth(rng, dtype, SHAPE)
        is_late = form == 3 and kind == "Shuffle"
        for end, last in (("", None), ("_packed", packed(form))):
            if is_late:
                add(root, name + end, values, compressors=[made, last] if last else [made])
                continue
            try:
                add(root, name + end, values, filters=[made], compressors=last)
            except (TypeError, ValueError) as error:
                print("left out:", form, name, error)
                if name + end in root:
                    del root[name + end]


@case("chains", forms=(3,))
def chains(root, rng):
    values = smooth(rng, "f4", SHAPE)
    turned = codecs.TransposeCodec(order=(1, 0))
    chain = [codecs.GzipCodec(level=1), codecs.Crc32cCodec()]
    add(root, "gzip_crc", values, compressors=chain)
    add(root, "crc_gzip", values, compressors=chain[::-1])
    add(root, "gzip_zstd", values, compressors=[codecs.GzipCodec(), codecs.ZstdCodec()])
    add(root, "all", values, filters=[turned], serializer=codecs.BytesCodec(endian="big"),
        compressors=[more.Shuffle(elementsize=4), codecs.ZstdCodec(), codecs.Crc32cCodec()])


@case("chains", forms=(2,))
def chains_of_two(root, rng):
    values = smooth(rng, "i4", SHAPE)
    add(root, "delta_shuffle", values, filters=[numcodecs.Delta("<i4"), numcodecs.Shuffle(4)], compressors=numcodecs.Zlib(1))
    add(root, "two", values, filters=[numcodecs.Shuffle(4), numcodecs.Zlib(1)], compressors=numcodecs.LZ4())
    add(root, "fletcher", values, filters=[numcodecs.Shuffle(4), numcodecs.Fletcher32()], compressors=numcodecs.BZ2())
    add(root, "big_delta", values.astype(">i4"), filters=[numcodecs.Delta(">i4")], compressors=numcodecs.GZip(1))


# Shards.


def sharded(root, name, values, shard, chunk, share=1.0, rng=None, outer=(), inner=None, **options):
    serializer = codecs.ShardingCodec(chunk_shape=chunk, codecs=inner or [codecs.BytesCodec(), codecs.ZstdCodec()],
                                      **options)
    array = root.create_array(name, shape=values.shape, dtype=values.dtype, chunks=shard, serializer=serializer,
                              compressors=list(outer) or None, filters=None, fill_value=values.dtype.type(3))
    for at in np.ndindex(*(-(-extent // step) for extent, step in zip(values.shape, chunk))):
        if share == 1.0 or rng.random() < share:
            part = tuple(slice(number * step, (number + 1) * step) for number, step in zip(at, chunk))
            array[part] = values[part]


@case("shards", forms=(3,), stores=("", "zip"))
def shards(root, rng):
    values = smooth(rng, "i4", (50, 44))
    plain = [codecs.BytesCodec()]
    is_zip = isinstance(root.store, zarr.storage.ZipStore)
    # A member of a zip file cannot be changed: each shard is written whole.
    write = whole if is_zip else sharded
    for place in ("start", "end"):
        write(root, f"at_{place}", values, (20, 20), (5, 10), index_location=place)
        write(root, f"raw_{place}", values, (20, 20), (5, 10), inner=plain, index_location=place)
        write(root, f"absent_{place}", values, (20, 20), (5, 10), 0.4, rng, index_location=place)
    write(root, "index_plain", values, (20, 20), (5, 10), index_codecs=[codecs.BytesCodec()])
    write(root, "index_big", values, (20, 20), (5, 10), index_codecs=[codecs.BytesCodec(endian="big")])
    write(root, "big", values, (20, 20), (5, 10), inner=[codecs.BytesCodec(endian="big")])
    write(root, "outer", values, (20, 20), (5, 10), outer=[codecs.GzipCodec()])
    write(root, "outer_crc", values, (20, 20), (5, 10), outer=[codecs.Crc32cCodec()])
    turned = [codecs.TransposeCodec(order=(1, 0)), codecs.BytesCodec(), codecs.Crc32cCodec()]
    write(root, "turned", values, (20, 20), (5, 10), inner=turned)
    write(root, "larger", values, (60, 50), (5, 10))
    write(root, "one", values, (20, 20), (20, 20))
    nested = codecs.ShardingCodec(chunk_shape=(5, 5), codecs=[codecs.BytesCodec(), codecs.ZstdCodec()])
    write(root, "nested", values, (40, 40), (20, 10), inner=[nested])
    first = codecs.ShardingCodec(chunk_shape=(5, 5), codecs=plain, index_location="start")
    write(root, "nested_start", values, (40, 40), (20, 10), inner=[first], index_location="start")


def whole(root, name, values, shard, chunk, share=1.0, rng=None, outer=(), inner=None, **options):
    serializer = codecs.ShardingCodec(chunk_shape=chunk, codecs=inner or [codecs.BytesCodec(), codecs.ZstdCodec()],
                                      **options)
    array = root.create_array(name, shape=values.shape, dtype=values.dtype, chunks=shard, serializer=serializer,
                              compressors=list(outer) or None, filters=None, fill_value=values.dtype.type(3))
    array[...] = np.where(values > 50, 3, values).astype(values.dtype) if share != 1.0 else values


@case("resized", stores=("",))
def resized(root, rng):
    """Shrunk arrays, which leave chunks outside of their grid, and grown ones."""
    for name, shape in (("shrunk", (12, 9)), ("grown", (50, 40)), ("narrow", (37, 3))):
        array = add(root, name, smooth(rng, "i4", SHAPE), compressors=packed(root.metadata.zarr_format), fill_value=9)
        array.resize(shape)


@case("strings")
def strings(root, rng):
    """What is no number, beside numbers."""
    add(root, "numbers", random(rng, "i4", SHAPE))
    root.create_array("text", shape=(3,), chunks=(2,), dtype=str)[...] = np.array(["one", "zw\u00f6lf", ""], object)
    root.create_array("fixed", data=np.array(["ab", "cde"], "U4"), chunks=(2,))
    root.create_array("bytes", data=np.array([b"ab", b"cde"], "S4"), chunks=(2,))
    root.create_array("times", data=np.array([1, 2, 3], "datetime64[s]"), chunks=(2,))
    record = np.array([(1, 2.5), (3, 4.5)], [("a", "<i4"), ("b", "<f8")])
    root.create_array("record", data=record, chunks=(2,))


@case("root_array", stores=("", "zip"), ways=("",))
def root_array(root, rng):
    """Replaced by an array without a group; see `main`."""


@case("many", ways=("", "consolidated"))
def many(root, rng):
    for number in range(300):
        add(root, f"g{number % 3}/a{number:03}", np.full((4,), number, "i2"), exact=(4,))


def references(folder, rng):
    """Kerchunk references: versions 0 and 1, with ranges of a file, whole files, base64 and plain text."""
    values, small = smooth(rng, "<i4", (12, 10)), random(rng, "<f4", (6,))
    found = {}
    for version in (0, 1):
        name = f"references_{version}"
        content = b"".join(values[row : row + 4].tobytes() for row in (8, 0, 4))
        (folder / f"{name}.bin").write_bytes(b"front" + content)
        (folder / f"{name}_whole.bin").write_bytes(small.tobytes())
        url = "{{u}}" if version == 1 else f"{name}.bin"
        document = {
            ".zgroup": json.dumps({"zarr_format": 2}), "a/.zarray": zarray((12, 10), (4, 10), "<i4"),
            "a/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"]}),
            "a/0.0": [url, 5 + 160, 160], "a/1.0": [url, 5 + 320, 160], "a/2.0": [url, 5, 160],
            "b/.zarray": zarray((6,), (6,), "<f4"), "b/0": [f"{name}_whole.bin"],
            "c/.zarray": zarray((6,), (3,), "<f4"), "c/0": "base64:" + base64.b64encode(small[:3].tobytes()).decode(),
            "d/.zarray": zarray((2,), (2,), "|u1"), "d/0": "ab",
        }
        if version == 1:
            document = {"version": 1, "templates": {"u": f"{name}.bin"}, "refs": document}
        (folder / f"{name}.json").write_text(json.dumps(document))
        partly = np.where(np.arange(6) < 3, small, np.float32(7))
        found[name] = {"a": values, "b": small, "c": partly, "d": np.frombuffer(b"ab", "u1")}
    values = smooth(rng, "f4", (30, 20))
    with h5py.File(folder / "references_h5.bin", "w") as file:
        made = file.create_dataset("v", data=values, chunks=(10, 20), compression=4)
        document = {".zgroup": json.dumps({"zarr_format": 2}), "v/.zarray": zarray((30, 20), (10, 20), "<f4", "zlib")}
        for number in range(3):
            chunk = made.id.get_chunk_info(number)
            row = chunk.chunk_offset[0] // 10
            document[f"v/{row}.0"] = ["references_h5.bin", chunk.byte_offset, chunk.size]
    (folder / "references_h5.json").write_text(json.dumps({"version": 1, "refs": document}))
    found["references_h5"] = {"v": values}
    return found


def zarray(shape, chunks, dtype, compressor=None):
    made = {"id": compressor, "level": 4} if compressor else None
    return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "order": "C",
                       "fill_value": 7, "filters": None, "compressor": made})


def deflated(source, target):
    """A copy of a zip file, its members compressed."""
    with zipfile.ZipFile(source) as stored, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for member in stored.namelist():
            made.writestr(member, stored.read(member))


# Truth.


def record(path, folder):
    """Writes the truth of a store."""
    truth = Truth(folder, path.name, "zarr")
    zipped = path.suffix == ".zip"
    store = zarr.storage.ZipStore(path, mode="r") if zipped else zarr.storage.LocalStore(path, read_only=True)
    root = zarr.open(store, mode="r", use_consolidated=False)
    if isinstance(root, zarr.Array):
        truth.dataset("*", **described(root))
    else:
        for name, member in sorted(root.members(max_depth=None)):
            if isinstance(member, zarr.Array):
                truth.dataset(name, **described(member))
                for field in member.dtype.names or ():
                    values = member[...][field]
                    dtype = values.dtype.newbyteorder("=").name
                    part = {"kind": "numbers", "dtype": dtype, "shape": list(values.shape), "values": values}
                    truth.dataset(f"{name}.{field}", is_part=True, **part)
    store.close()
    truth.write()


def described(array):
    entry = {"shape": array.shape, "dtype": array.dtype.name if array.dtype.fields is None else "record"}
    if array.dtype.kind not in "biufc":
        if array.dtype.kind in "OUST":
            return {**entry, "kind": "text", "texts": texts(array[...])}
        return {**entry, "kind": "other"}
    attrs = dict(array.attrs)
    dims = attrs.pop("_ARRAY_DIMENSIONS", None) or getattr(array.metadata, "dimension_names", None)
    plain = {name: attribute(value) for name, value in attrs.items()}
    entry["dims"] = list(dims) if dims else None
    entry["attrs"] = {name: value for name, value in plain.items() if value is not None}
    return {**entry, "kind": "numbers", "dtype": array.dtype.newbyteorder("=").name, "values": np.asarray(array[...])}


def main():
    """Writes every case and its truth."""
    folder, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    files, truth_folder = folder / "files", folder / "truth"
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir(parents=True)
    for name, (fill, arguments, form, store, way) in CASES.items():
        path = files / (f"{name}.zarr.zip" if store else f"{name}.zarr")
        rng = generator(seed, name)
        if fill is root_array:
            made = zarr.storage.ZipStore(path, mode="w") if store else zarr.storage.LocalStore(path)
            zarr.create_array(made, data=random(rng, "f4", SHAPE), chunks=CHUNKS, zarr_format=form)
            made.close()
        else:
            made_of(path, fill, arguments, form, way, rng)
        record(path, truth_folder)
    deflated(files / "types_v3_zip.zarr.zip", files / "types_v3_deflated.zarr.zip")
    record(files / "types_v3_deflated.zarr.zip", truth_folder)
    for name, arrays in references(files, generator(seed, "references")).items():
        truth = Truth(truth_folder, f"{name}.json", "zarr")
        for array, values in arrays.items():
            truth.dataset(array, "numbers", values.shape, values.dtype.name, values=values)
        truth.write()
    print(len(CASES) + 4, "stores")


if __name__ == "__main__":
    main()
