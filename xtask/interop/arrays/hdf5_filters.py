"""HDF5 files, one for each filter: every pipeline over several types, with partial edge chunks."""

import zlib

import h5py
import hdf5plugin
import numpy as np
from h5py import h5s, h5t

from hdf5_cases import case, library, low_level
from truth import random, smooth

# A pipeline is a list of changes to the creation properties.
SHUFFLE = [lambda p: p.set_shuffle()]
FLETCHER = [lambda p: p.set_fletcher32()]
DEFLATE = [lambda p: p.set_deflate(5)]
LZF = [lambda p: p.set_filter(32000, h5py.h5z.FLAG_OPTIONAL)]
NBIT = [lambda p: p.set_filter(5, h5py.h5z.FLAG_OPTIONAL)]


def szip(mask, pixels):
    return [lambda p: p.set_szip(mask, pixels)]


def plugin(made):
    """A filter of hdf5plugin."""
    number, values = made.filter_id, tuple(made.filter_options)
    return [lambda p: p.set_filter(number, h5py.h5z.FLAG_OPTIONAL, values)]


PIPELINES = {
    "deflate": {"only": DEFLATE, "shuffled": SHUFFLE + DEFLATE, "twice": DEFLATE + SHUFFLE + DEFLATE},
    "shuffle": {"only": SHUFFLE},
    "fletcher32": {
        "only": FLETCHER, "first": FLETCHER + SHUFFLE + DEFLATE, "last": SHUFFLE + DEFLATE + FLETCHER,
        "shuffled": SHUFFLE + FLETCHER, "before": FLETCHER + SHUFFLE,
    },
    "lzf": {"only": LZF, "shuffled": SHUFFLE + LZF},
    "szip": {
        "entropy8": szip(h5py.h5z.SZIP_EC_OPTION_MASK, 8), "nearest8": szip(h5py.h5z.SZIP_NN_OPTION_MASK, 8),
        "nearest16": szip(32, 16), "entropy32": szip(4, 32), "shuffled": SHUFFLE + szip(32, 4),
    },
    "zstd": {"only": plugin(hdf5plugin.Zstd(3)), "shuffled": SHUFFLE + plugin(hdf5plugin.Zstd(19))},
    "lz4": {"only": plugin(hdf5plugin.LZ4()), "blocks": plugin(hdf5plugin.LZ4(nbytes=64))},
    "bzip2": {"only": plugin(hdf5plugin.BZip2(9)), "shuffled": SHUFFLE + plugin(hdf5plugin.BZip2(1))},
    "bitshuffle": {
        "none": plugin(hdf5plugin.Bitshuffle(cname="none")), "lz4": plugin(hdf5plugin.Bitshuffle()),
        "zstd": plugin(hdf5plugin.Bitshuffle(cname="zstd")),
        "blocks": plugin(hdf5plugin.Bitshuffle(nelems=64, cname="lz4")),
    },
    "blosc": {
        f"{inner}_{shuffle}": plugin(hdf5plugin.Blosc(cname=inner, clevel=5, shuffle=shuffle))
        for inner in ("blosclz", "lz4", "lz4hc", "zlib", "zstd") for shuffle in (0, 1, 2)
    },
    "blosc2": {
        f"{inner}_{shuffle}": plugin(hdf5plugin.Blosc2(cname=inner, clevel=5, filters=shuffle))
        for inner in ("blosclz", "lz4", "zlib", "zstd") for shuffle in (0, 1, 2)
    },
}


def filters(file, rng, pipelines):
    for name, set_up in pipelines.items():
        for dtype in ("<i2", ">i4", "<f4", ">f8", "u1"):
            place = f"{name}_{np.dtype(dtype).name}{'' if dtype[0] != '>' else '_big'}"
            low_level(file, place, smooth(rng, dtype, (61, 35)), (16, 20), set_up=set_up)
        low_level(file, f"{name}_random", random(rng, "<f4", (50, 20)), (16, 20), set_up=set_up)


for label, pipelines in PIPELINES.items():
    case(f"filter_{label}", pipelines)(filters)
    if label in ("deflate", "fletcher32", "szip", "zstd", "blosc"):
        case(f"filter_{label}_old", pipelines, version="earliest")(filters)


@case("filter_lossy")
def lossy(file, rng):
    """zfp and SZ3 are read; the others are to be refused by name."""
    values = smooth(rng, "f4", (40, 40))
    made = {"zfp": hdf5plugin.Zfp(rate=8), "sz3": hdf5plugin.SZ3(absolute=0.1)}
    made |= {"sz": hdf5plugin.SZ(absolute=0.1), "sperr": hdf5plugin.Sperr(rate=16)}
    for name, filtered in made.items():
        low_level(file, name, values, (20, 20), set_up=plugin(filtered))
    file["plain"] = values


@case("filter_nbit")
def nbit(file, rng):
    for bits, offset, sign, name in ((12, 0, 0, "u12"), (12, 0, 1, "i12"), (9, 3, 1, "i9at3"), (1, 0, 0, "u1")):
        for order in (h5t.ORDER_LE, h5t.ORDER_BE):
            narrow = (h5t.STD_I16LE if sign else h5t.STD_U16LE).copy()
            narrow.set_precision(bits)
            narrow.set_offset(offset)
            narrow.set_order(order)
            low = -(1 << bits - 1) if sign else 0
            values = rng.integers(low, low + (1 << bits), (30, 11)).astype("i2" if sign else "u2")
            end = "le" if order == h5t.ORDER_LE else "be"
            low_level(file, f"{name}{end}", values, (8, 5), file_type=narrow, set_up=NBIT)
            low_level(file, f"{name}{end}_flat", values, file_type=narrow)
    for dtype in ("<i4", ">f4", "<f8"):
        name = np.dtype(dtype).name + "_whole"
        low_level(file, name, random(rng, dtype, (30, 11)), (8, 5), set_up=NBIT)
    short = h5t.IEEE_F32LE.copy()
    short.set_fields(26, 20, 6, 7, 13)
    short.set_offset(7)
    short.set_precision(20)
    short.set_ebias(31)
    low_level(file, "float20", rng.integers(-8, 8, (30, 11)).astype("f4"), (8, 5), file_type=short, set_up=NBIT)


@case("filter_scaleoffset")
def scaleoffset(file, rng):
    for dtype in ("<i1", "<i2", ">i4", "<i8", "<u2", ">u4", "<u8"):
        values = (smooth(rng, "i8", (40, 21)) - (50 if "i" in dtype else 0)).astype(dtype)
        name = np.dtype(dtype).name
        file.create_dataset(name, data=values, chunks=(16, 10), scaleoffset=0)
        file.create_dataset(f"{name}_7", data=np.abs(values) % 100, chunks=(16, 10), scaleoffset=7)
        filled = np.where(rng.random(values.shape) < 0.2, 99, values).astype(dtype)
        file.create_dataset(f"{name}_fill", data=filled, chunks=(16, 10), scaleoffset=0, fillvalue=99)
        file.create_dataset(f"{name}_all", data=np.full((20, 10), 99, dtype), chunks=(16, 10), scaleoffset=0,
                            fillvalue=99)
    for dtype in ("<f4", ">f4", "<f8", ">f8"):
        values = (smooth(rng, "f8", (40, 21)) / 16 - 2).astype(dtype)
        name = np.dtype(dtype).name + ("b" if dtype[0] == ">" else "")
        for digits in (0, 2, 4):
            file.create_dataset(f"{name}_{digits}", data=values, chunks=(16, 10), scaleoffset=digits)
        filled = np.where(rng.random(values.shape) < 0.2, -9, values).astype(dtype)
        file.create_dataset(f"{name}_fill", data=filled, chunks=(16, 10), scaleoffset=2, fillvalue=-9)
    file.create_dataset("deflated", data=smooth(rng, "i4", (40, 21)), chunks=(16, 10), scaleoffset=0,
                        shuffle=True, compression=3)


@case("filter_skipped")
def skipped(file, rng):
    """Chunks that an optional filter left as they were, known by the mask alone."""
    values = rng.integers(0, 256, (40, 64)).astype("u1")
    values[:16] = 5
    for name, set_up in (("deflate", DEFLATE), ("lzf", LZF), ("both", SHUFFLE + DEFLATE + FLETCHER)):
        low_level(file, name, values, (8, 64), set_up=set_up)


@case("filter_masks")
def masks(file, rng):
    values = smooth(rng, "<i4", (64, 8))
    for name, maxshape in (("fixed", None), ("grows", (None, 8)), ("both", (None, None))):
        dataset = file.create_dataset(name, shape=(64, 8), chunks=(8, 8), dtype="<i4", maxshape=maxshape,
                                      shuffle=True, compression=4)
        for row in range(0, 64, 8):
            raw = values[row : row + 8].tobytes()
            shuffled = values[row : row + 8].view("u1").reshape(-1, 4).T.tobytes()
            mask = row // 8 % 4
            payload = shuffled if not mask & 1 else raw
            payload = zlib.compress(payload) if not mask & 2 else payload
            dataset.id.write_direct_chunk((row, 0), payload, mask)


@case("edges_unfiltered")
def edges(file, rng):
    """Partial edge chunks that are stored without their filters."""
    lib = library()
    plain = [lambda p: lib.H5Pset_chunk_opts(p.id, 2)]
    for name, most in (("fixed", (61, 35)), ("grows", (h5s.UNLIMITED, 35)), ("both", (h5s.UNLIMITED,) * 2)):
        space = h5s.create_simple((61, 35), most)
        low_level(file, name, smooth(rng, "i4", (61, 35)), (16, 20), space, set_up=plain + SHUFFLE + DEFLATE)
