"""The files of the comparison with h5py, netCDF4 and zarr: 256 MiB of float32, packed in several ways."""

import numpy as np

from files import made

LIBRARIES = {"hdf5": "h5py", "netcdf": "netCDF4", "zarr": "zarr"}
SHAPE, CHUNKS = (64, 1024, 1024), (8, 256, 256)
ELEMENT = (32, 512, 512)
COLUMN = (":", "512", "512")
BOX = ("10:20", "100:400", "300:700")
MANY = 10_000


def values():
    """Numbers like those of a model: smooth, with noise in the last bits."""
    rng = np.random.default_rng(1)
    z, y, x = (np.linspace(0, 6, extent, dtype="f4") for extent in SHAPE)
    smooth = np.sin(z)[:, None, None] + np.cos(y)[None, :, None] * np.sin(x)[None, None, :]
    noisy = smooth * 20 + 280 + rng.standard_normal(SHAPE, dtype="f4") * 0.01
    return np.round(noisy * 64) / np.float32(64)


def hdf5(path, layout):
    import h5py
    import hdf5plugin

    options = {
        "raw": {}, "chunked": {"chunks": CHUNKS},
        "deflate": {"chunks": CHUNKS, "compression": 4, "shuffle": True},
        "zstd": {"chunks": CHUNKS, **hdf5plugin.Zstd(3)},
        "blosc": {"chunks": CHUNKS, **hdf5plugin.Blosc("lz4", 5, 1)},
    }
    with h5py.File(path, "w", libver="v108") as file:
        if layout == "many":
            for number in range(MANY):
                file[f"v{number}"] = np.full((4,), number, "f4")
        else:
            file.create_dataset("x", data=values(), **options[layout])


def netcdf(path, layout):
    import netCDF4

    options = {
        "raw": {"contiguous": True}, "chunked": {"chunksizes": CHUNKS},
        "deflate": {"chunksizes": CHUNKS, "zlib": True, "complevel": 4, "shuffle": True},
        "zstd": {"chunksizes": CHUNKS, "compression": "zstd", "complevel": 3},
        "blosc": {"chunksizes": CHUNKS, "compression": "blosc_lz4", "complevel": 5},
        "classic": {},
    }
    form = "NETCDF3_64BIT_OFFSET" if layout == "classic" else "NETCDF4"
    with netCDF4.Dataset(path, "w", format=form) as file:
        if layout == "many":
            file.createDimension("n", 4)
            for number in range(MANY):
                file.createVariable(f"v{number}", "f4", ("n",))[:] = number
            return
        for name, extent in zip("abc", SHAPE):
            file.createDimension(name, extent)
        file.createVariable("x", "f4", tuple("abc"), **options[layout])[...] = values()


def zarr(path, layout):
    import zarr
    from zarr import codecs
    from zarr.codecs import numcodecs

    options = {
        "raw": None, "deflate": [numcodecs.Shuffle(elementsize=4), numcodecs.Zlib(level=4)],
        "zstd": codecs.ZstdCodec(level=3), "blosc": codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"),
        "sharded": codecs.ZstdCodec(level=3),
    }
    root = zarr.create_group(str(path))
    if layout == "many":
        for number in range(MANY):
            root.create_array(f"v{number}", data=np.full((4,), number, "f4"), compressors=None)
        zarr.consolidate_metadata(str(path))
        return
    shards = (32, 512, 1024) if layout == "sharded" else None
    array = root.create_array("x", shape=SHAPE, chunks=CHUNKS, shards=shards, dtype="f4", compressors=options[layout])
    array[...] = values()


LAYOUTS = {
    "hdf5": (hdf5, "h5", ["raw", "chunked", "deflate", "zstd", "blosc", "many"]),
    "netcdf": (netcdf, "nc", ["raw", "classic", "deflate", "zstd", "blosc", "many"]),
    "zarr": (zarr, "zarr", ["raw", "deflate", "zstd", "blosc", "sharded", "many"]),
}


def files(folder, family):
    """The file of each layout of a family, made once."""
    make, suffix, layouts = LAYOUTS[family]
    folder = folder / "arrays"
    folder.mkdir(parents=True, exist_ok=True)
    return {
        layout: made(folder / f"{layout}.{suffix}", lambda path, layout=layout: make(path, layout))
        for layout in layouts
    }
