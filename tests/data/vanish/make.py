"""Small files of other programs, for `tests/world/vanish.rs`: python make.py, in this folder.

Made with h5py 3.16, netCDF4 1.7, zarr 3.1, NumPy 2.4, astropy 8, safetensors 0.8 and gguf 0.19. Names are such that no
message has one of them by chance.
"""

import h5py
import netCDF4
import numpy as np
import zarr
from astropy.io import fits
from gguf import GGUFWriter
from safetensors.numpy import save_file

ALPHA = np.arange(6.0).reshape(2, 3)
BETA = np.array([3, -1, 4, 1, -5], dtype="int32")
GAMMA = np.array([1, 2, 3, 4], dtype="uint8")


def hdf5(path, libver, text):
    """Contiguous, chunked and compact arrays, a group, an enumeration, attributes of several kinds."""
    with h5py.File(path, "w", libver=libver) as f:
        alpha = f.create_dataset("alpha", data=ALPHA)
        alpha.attrs["units"] = text
        alpha.attrs["span"] = np.array([1.5, 2.5])
        beta = f.create_dataset("beta", data=BETA, chunks=(2,), compression="gzip", fletcher32=True)
        beta.attrs["fullness"] = np.int16(7)
        group = f.create_group("delta")
        names = h5py.enum_dtype({"off": 0, "on": 1}, basetype="u1")
        group.create_dataset("epsilon", data=np.array([0, 1, 1], dtype="u1"), dtype=names)
        space, kind = h5py.h5s.create_simple((4,)), h5py.h5t.NATIVE_UINT8
        layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        layout.set_layout(h5py.h5d.COMPACT)
        gamma = h5py.h5d.create(f.id, b"gamma", kind, space, dcpl=layout)
        gamma.write(h5py.h5s.ALL, h5py.h5s.ALL, GAMMA)
        f.attrs["title"] = np.bytes_("a file")


def dense(path):
    """A group and attributes in fractal heaps."""
    with h5py.File(path, "w", libver="latest") as f:
        for number in range(9):
            f.create_dataset(f"member{number}", data=np.int16(number))
        for number in range(9):
            f["member0"].attrs[f"key{number}"] = np.int8(number)


def netcdf(path, form):
    """Axes with coordinates, a record axis, characters, a group where the form has groups."""
    with netCDF4.Dataset(path, "w", format=form) as f:
        f.title = "a file"
        f.createDimension("row", 2)
        f.createDimension("column", 3)
        f.createDimension("moment", None)
        row = f.createVariable("row", "f4", ("row",))
        row[:] = [10, 20]
        alpha = f.createVariable("alpha", "f8", ("row", "column"))
        alpha.units = "K"
        alpha[:] = ALPHA
        beta = f.createVariable("beta", "i4", ("moment",), fill_value=-9)
        beta.scale_factor = np.float32(0.5)
        beta.set_auto_maskandscale(False)
        beta[:] = BETA
        if form == "NETCDF4":
            epsilon = f.createGroup("delta").createVariable("epsilon", "u1", ("row",))
            epsilon[:] = [1, 2]
        else:
            f.createVariable("gamma", "i2", ("moment", "column"))[:] = np.arange(15).reshape(5, 3)


def zarrs(store, form):
    """Two arrays and a group with one."""
    root = zarr.open_group(store, mode="w", zarr_format=form)
    root.attrs["title"] = "a file"
    names = {"dimension_names": ["row", "column"]} if form == 3 else {}
    alpha = root.create_array("alpha", data=ALPHA, chunks=(2, 2), **names)
    alpha.attrs["units"] = "K"
    if form == 2:
        alpha.attrs["_ARRAY_DIMENSIONS"] = ["row", "column"]
    shards = {"shards": (4,)} if form == 3 else {}
    root.create_array("beta", data=BETA, chunks=(2,), **shards)
    root.create_group("delta").create_array("epsilon", data=GAMMA, chunks=(4,), compressors=None)


def images(path):
    """Two images with checksums."""
    primary = fits.PrimaryHDU(GAMMA.reshape(2, 2))
    primary.header["OBJECT"] = "M31"
    beta = fits.ImageHDU(BETA, name="BETA")
    fits.HDUList([primary, beta]).writeto(path, overwrite=True, checksum=True)


def gguf(path):
    writer = GGUFWriter(path, "llama")
    writer.add_uint32("llama.count", 7)
    writer.add_array("llama.words", ["one", "two"])
    writer.add_tensor("alpha.weight", ALPHA.astype("float32"))
    writer.add_tensor("beta.weight", BETA)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


hdf5("earliest.h5", "earliest", "K")
hdf5("latest.h5", "latest", np.bytes_("K"))
dense("dense.h5")
netcdf("four.nc", "NETCDF4")
netcdf("classic.nc", "NETCDF3_CLASSIC")
netcdf("data.nc", "NETCDF3_64BIT_DATA")
for form in (2, 3):
    with zarr.storage.ZipStore(f"v{form}.zarr.zip", mode="w") as store:
        zarrs(store, form)
images("images.fits")
gguf("tensors.gguf")
np.savez("arrays.npz", alpha=ALPHA, beta=BETA)
np.savez_compressed("deflated.npz", alpha=ALPHA, beta=BETA)
np.save("array.npy", ALPHA)
save_file({"alpha": ALPHA, "beta": BETA}, "tensors.safetensors", {"title": "a file"})
