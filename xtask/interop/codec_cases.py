"""Writes chunks as libhdf5 and numcodecs encode them, for the tests of tet-codec.

    python xtask/interop/codec_cases.py crates/tet-codec/src/tests/cases.tsv.gz [scale]

Needs numpy, h5py, hdf5plugin and numcodecs. A line of the text
in the file is: name, family, filters, element size, decoded
length, CRC-32 of the decoded bytes, stored bytes in hex. `scale` multiplies the number
of elements, to compare more than the file in the repository holds.
"""

import gzip
import sys
import zlib

import h5py
import hdf5plugin
import numcodecs
import numpy as np

SCALE = int(sys.argv[2]) if len(sys.argv) > 2 else 1
LINES = []


def case(name, family, filters, element_size, decoded, stored):
    if not filters:  # The library left an optional filter out.
        return
    crc = zlib.crc32(bytes(decoded))
    fields = [name, family, filters, element_size, len(decoded), crc, bytes(stored).hex()]
    LINES.append("\t".join(map(str, fields)))


def numbers(dtype, count, seed=1):
    """A slow wave with noise, of any type."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    at = np.arange(count * SCALE)
    wave = np.sin(at / 40) * 40 + 50 + rng.integers(0, 3, at.size)
    return wave.astype(dtype)


def hdf5_file():
    return h5py.File("cases", "w", driver="core", backing_store=False)


def chunk_of(file, name, data, tid=None, dcpl=None, **options):
    """The only chunk of a new dataset: its dataset, the mask of filters left out, and its bytes."""
    if tid is None:
        file.create_dataset(name, data=data, chunks=data.shape, **options)
    else:
        space = h5py.h5s.create_simple(data.shape)
        dataset = h5py.h5d.create(file.id, name.encode(), tid, space, dcpl)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)
    dataset = file[name]
    mask, stored = dataset.id.read_direct_chunk((0,) * data.ndim)
    return dataset, mask, stored


def filters_of(dataset, mask):
    plist = dataset.id.get_create_plist()
    filters = []
    for number in range(plist.get_nfilters()):
        code, _, values, _ = plist.get_filter(number)
        if not mask >> number & 1:
            filters.append(f"{code}:" + ",".join(map(str, values)))
    return ";".join(filters)


def hdf5(name, data, lossy=False, tid=None, dcpl=None, plain=None, **options):
    """A case with the bytes of the same dataset without filters as truth."""
    with hdf5_file() as file:
        dataset, mask, stored = chunk_of(file, "filtered", data, tid, dcpl, **options)
        if lossy:
            truth = np.ascontiguousarray(dataset[()]).tobytes()
        else:
            _, _, truth = chunk_of(file, "plain", data, tid, plain)
        size = dataset.id.get_type().get_size()
        case(name, "hdf5", filters_of(dataset, mask), size, truth, stored)


def plist(shape, *calls):
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk(shape)
    for call, *arguments in calls:
        getattr(dcpl, call)(*arguments)
    return dcpl


def hdf5_basic():
    for dtype in ["<i1", "<i2", ">i2", "<i4", "<f4", ">f8", "<f8", "<u8"]:
        data = numbers(dtype, 150)
        hdf5(f"gzip {dtype}", data, compression="gzip", shuffle=True)
        hdf5(f"gzip fletcher {dtype}", data, compression="gzip", fletcher32=True)
        hdf5(f"fletcher {dtype}", data[:31], fletcher32=True)
        hdf5(f"lzf {dtype}", data, compression="lzf", shuffle=True)
    hdf5("lzf zeros", np.zeros(9000, "u1"), compression="lzf")
    hdf5("gzip opaque", numbers("u1", 333).reshape(-1, 3).copy().view("V3").ravel(), shuffle=True, compression="gzip")
    # As netCDF4 orders them: the checksum before shuffle, whose last bytes are no whole element.
    for dtype in ["<f8", "<f4", "<i2"]:
        data = numbers(dtype, 60)
        calls = [("set_fletcher32",), ("set_shuffle",), ("set_deflate", 4)]
        tid = h5py.h5t.py_create(data.dtype)
        hdf5(f"netcdf order {dtype}", data, tid=tid, dcpl=plist(data.shape, *calls), plain=plist(data.shape))


def hdf5_szip():
    for dtype in ["<i1", "<i2", ">i2", "<f4", ">f8"] if SCALE == 1 else ["<i1", "<i2", ">i2", "<i4", "<f4", ">f4", "<f8", ">f8"]:
        for mask, name in [(h5py.h5z.SZIP_EC_OPTION_MASK, "ec"), (h5py.h5z.SZIP_NN_OPTION_MASK, "nn")]:
            for shape, block in [((96,), 8), ((10, 13), 4), ((5, 37), 16), ((3, 200), 32)]:
                count = int(np.prod(shape))
                data = (numbers(dtype, count)[:count].reshape(shape) / 25).astype(dtype).round()
                data = data.astype(dtype)
                tid = h5py.h5t.py_create(data.dtype)
                dcpl = plist(shape, ("set_szip", mask, block))
                hdf5(f"szip {name} {dtype} {shape} {block}", data, tid=tid, dcpl=dcpl, plain=plist(shape))


def hdf5_nbit():
    kinds = [("<i2", 12, 0), ("<i2", 9, 5), (">i2", 12, 4), ("<i4", 17, 3), (">u4", 20, 7), ("<u1", 5, 2),
             ("<i8", 40, 11), (">i8", 33, 0), ("<i4", 32, 0), ("<u8", 64, 0), ("<i2", 9, 7), (">i4", 18, 5)]
    for dtype, precision, offset in kinds:
        data = numbers(dtype, 60, 3) % (1 << min(precision - 1, 30))
        data = data.astype(dtype)
        tid = h5py.h5t.py_create(data.dtype).copy()
        tid.set_precision(precision)
        tid.set_offset(offset)
        shape = data.shape
        hdf5(f"nbit {dtype} {precision} {offset}", data, tid=tid, dcpl=plist(shape, ("set_filter", 5, h5py.h5z.FLAG_OPTIONAL, ())),
             plain=plist(shape))
    small = h5py.h5t.py_create(np.dtype("<i4")).copy()
    small.set_precision(18)
    big = h5py.h5t.py_create(np.dtype(">i2")).copy()
    big.set_precision(10)
    big.set_offset(3)
    compound = h5py.h5t.create(h5py.h5t.COMPOUND, 21)
    compound.insert(b"a", 0, small)
    compound.insert(b"b", 4, big)
    compound.insert(b"c", 8, h5py.h5t.array_create(big, (3,)))
    compound.insert(b"d", 14, h5py.h5t.py_create(np.dtype("S5")))
    data = np.zeros(20 * SCALE, np.dtype({"names": ["a", "b", "c", "d"], "formats": ["<i4", "<i2", ("<i2", (3,)), "S5"]}))
    for at, row in enumerate(data):
        row["a"], row["b"], row["c"], row["d"] = at * 7 - 50, at - 8, [at, -at, 3], f"t{at}"
    shape = data.shape
    hdf5("nbit compound", data, tid=compound, dcpl=plist(shape, ("set_filter", 5, h5py.h5z.FLAG_OPTIONAL, ())), plain=plist(shape))
    array = h5py.h5t.array_create(small, (2, 3))
    data = (np.arange(60 * SCALE, dtype="<i4") % 900).reshape(-1, 2, 3)
    with hdf5_file() as file:
        raw = []
        for name, dcpl in [("f", plist((data.shape[0],), ("set_filter", 5, h5py.h5z.FLAG_OPTIONAL, ()))), ("p", plist((data.shape[0],)))]:
            space = h5py.h5s.create_simple((data.shape[0],))
            dataset = h5py.h5d.create(file.id, name.encode(), array, space, dcpl)
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data, mtype=h5py.h5t.array_create(h5py.h5t.NATIVE_INT32, (2, 3)))
            raw.append(dataset.read_direct_chunk((0,)))
        case("nbit array", "hdf5", filters_of(file["f"], raw[0][0]), 24, raw[1][1], raw[0][1])


def hdf5_scale_offset():
    for dtype in ["<i1", "<u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">u8", "<u8"]:
        data = numbers(dtype, 90)
        if dtype[1] == "i":
            data = (data - 70).astype(dtype)
        hdf5(f"scaleoffset {dtype}", data, lossy=True, scaleoffset=0)
        hdf5(f"scaleoffset fill {dtype}", np.where(np.arange(data.size) % 7 == 0, 5, data).astype(dtype), lossy=True,
             scaleoffset=0, fillvalue=5)
        hdf5(f"scaleoffset constant {dtype}", np.full(20, 9, dtype), lossy=True, scaleoffset=0)
        bits = 8 * np.dtype(dtype).itemsize
        hdf5(f"scaleoffset full {dtype}", data[:20], lossy=True, scaleoffset=bits)
        wide = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 1, 2], dtype)
        hdf5(f"scaleoffset wide {dtype}", wide, lossy=True, scaleoffset=0)
    for dtype in ["<f4", ">f4", "<f8", ">f8"]:
        for digits in [0, 1, 3, 5]:
            data = (numbers("f8", 60) / 7 - 3).astype(dtype)
            hdf5(f"scaleoffset {dtype} {digits}", data, lossy=True, scaleoffset=digits)
        data[::9] = -99
        hdf5(f"scaleoffset fill {dtype}", data, lossy=True, scaleoffset=2, fillvalue=-99)


def hdf5_plugins():
    for dtype in ["<i2", "V3"] if SCALE == 1 else ["<i1", "<i2", "<f4", ">f8", "V3", "c16"]:
        def data(count):
            if dtype == "V3":
                return numbers("u1", 3 * count).view("V3")
            return numbers(dtype, count)

        for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
            for shuffle in [0, 1, 2]:
                if dtype in ["<i2", "V3"] or codec in ["lz4", "blosclz"] and shuffle:
                    options = hdf5plugin.Blosc(cname=codec, clevel=5, shuffle=shuffle)
                    hdf5(f"blosc {codec} {shuffle} {dtype}", data(180), **options)
        for codec in ["none", "lz4", "zstd"]:
            for block in [0, 16]:
                for count in [203, 96]:
                    hdf5(f"bitshuffle {codec} {block} {count} {dtype}", data(count), **hdf5plugin.Bitshuffle(nelems=block, cname=codec))
        hdf5(f"lz4 {dtype}", data(300), **hdf5plugin.LZ4(nbytes=256))
        hdf5(f"lz4 whole {dtype}", data(100), **hdf5plugin.LZ4())
        hdf5(f"zstd {dtype}", data(100), **hdf5plugin.Zstd())
        for codec in ["blosclz", "lz4", "zlib", "zstd"]:
            hdf5(f"blosc2 {codec} {dtype}", data(200), **hdf5plugin.Blosc2(cname=codec, filters=hdf5plugin.Blosc2.SHUFFLE))
        hdf5(f"blosc2 bits {dtype}", data(200), **hdf5plugin.Blosc2(cname="lz4", filters=hdf5plugin.Blosc2.BITSHUFFLE))
    for shape in [(20, 30), (7, 5, 3), (33, 2, 9)]:
        for dtype in ["<i2", "<f8"]:
            data = numbers(dtype, int(np.prod(shape)))[: int(np.prod(shape))].reshape(shape)
            hdf5(f"blosc2 {shape} {dtype}", data, **hdf5plugin.Blosc2(cname="lz4", clevel=5))
    if SCALE > 1:
        data = numbers("<f4", 70_000)[: 500 * 700].reshape(500, 700)
        hdf5("blosc2 wide", data, **hdf5plugin.Blosc2(cname="zstd", clevel=5))
    hdf5("blosc large", numbers("<f4", 30_000).round(-1), **hdf5plugin.Blosc(cname="zstd", clevel=9, shuffle=1))
    noise = np.random.default_rng(2).integers(0, 256, 200).astype("u1")
    hdf5("blosc copied", noise, **hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=0))
    hdf5("lz4 noise", noise, **hdf5plugin.LZ4(nbytes=64))


def codec_text(codec):
    config = codec.get_config()
    name = config.pop("id")
    return name + "".join(f" {key}={value}" for key, value in sorted(config.items()) if value is not None)


def zarr(name, data, *codecs):
    encoded = data
    for codec in codecs:
        encoded = codec.encode(encoded)
    decoded = encoded
    for codec in reversed(codecs):
        decoded = codec.decode(decoded)
    truth = np.asarray(decoded).tobytes() if not isinstance(decoded, bytes) else decoded
    stored = encoded.tobytes() if isinstance(encoded, np.ndarray) else bytes(encoded)
    case(name, "numcodecs", ";".join(map(codec_text, codecs)), data.itemsize, truth, stored)


def numcodecs_cases():
    c = numcodecs
    for dtype in ["<i2", ">i4", "<f8", "u1"]:
        data = numbers(dtype, 100)
        shuffle = c.Shuffle(data.itemsize)
        for codec in [c.Zlib(6), c.GZip(6), c.LZ4(), c.Zstd(3), c.Zstd(3, True), c.Blosc("zstd", 5, 2), c.Blosc("blosclz", 9, 1)]:
            zarr(f"{codec.codec_id} {dtype}", data, codec)
            zarr(f"shuffle {codec.codec_id} {dtype}", data, shuffle, codec)
        for codec in [c.CRC32(), c.CRC32C(), c.Adler32(), c.Fletcher32()]:
            zarr(f"{codec.codec_id} {dtype}", data[:30], codec)
        for location in ["start", "end"]:
            zarr(f"crc32 {location} {dtype}", data[:9], c.CRC32(location=location))
            zarr(f"two {location} {dtype}", data, c.Zlib(1), c.CRC32C(location=location), c.Zstd(1))
        zarr(f"delta {dtype}", data, c.Delta(dtype))
        zarr(f"delta zlib {dtype}", data, c.Delta(dtype), c.Zlib(1))
    zarr("delta small", numbers("<i4", 50), c.Delta("<i4", "<i2"))
    zarr("delta wide", numbers("<i8", 50) - 60, c.Delta("<i8", "i1"))
    zarr("delta wraps", numbers("u1", 300)[::3].copy() * 200, c.Delta("u1"))
    zarr("delta f4", numbers("<f4", 50) / 3, c.Delta("<f4"))
    for dtype in ["<f8", "<f4", ">f4", "<i4"]:
        data = (numbers("f8", 50) / 3).astype(dtype)
        for stored in ["u1", "<i2", "<f4", ">i4"]:
            zarr(f"fixedscaleoffset {dtype} {stored}", data, c.FixedScaleOffset(offset=10, scale=3, dtype=dtype, astype=stored))
        zarr(f"fixedscaleoffset fractions {dtype}", data, c.FixedScaleOffset(offset=9.5, scale=1.7, dtype=dtype, astype="<i2"))
        zarr(f"astype {dtype}", data, c.AsType("<i2", dtype))
        zarr(f"astype f8 {dtype}", data, c.AsType("<f8", dtype))
    zarr("quantize", numbers("<f8", 50) / 7, c.Quantize(2, "<f8", "<f4"))
    for count in [1, 7, 8, 9, 64, 99]:
        zarr(f"packbits {count}", numbers("u1", count) % 3 == 0, c.PackBits())
    zarr("bitround", numbers("<f4", 40) / 7, c.BitRound(5), c.Zlib(1))


hdf5_basic()
hdf5_szip()
hdf5_nbit()
hdf5_scale_offset()
hdf5_plugins()
numcodecs_cases()
packed = gzip.compress("".join(line + "\n" for line in LINES).encode(), mtime=0)
with open(sys.argv[1], "wb") as out:
    out.write(packed)
print(len(LINES), "cases,", len(packed), "bytes")
