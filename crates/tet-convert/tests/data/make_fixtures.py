"""Makes the .npy and .npz files of this folder with NumPy; see README.md."""
import io
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
DTYPES = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1".split()


def array(code, shape, order="C", byte_order="<"):
    """Element i, row-major, is (i * 37 + 11) mod 101 - 50; unsigned: + 50; bool: odd."""
    count = int(np.prod(shape))
    values = (np.arange(count, dtype=np.int64) * 37 + 11) % 101 - 50
    if code[0] == "u":
        values = values + 50
    if code[0] == "b":
        values = values % 2
    dtype = np.dtype(code if code[1] == "1" else byte_order + code)
    return np.array(values.reshape(shape).astype(dtype), order=order)


def npy(name, value, version=None):
    with open(HERE / name, "wb") as out:
        np.lib.format.write_array(out, np.asanyarray(value), version=version, allow_pickle=True)


shape = (5, 3, 4)
every = {code: array(code, shape) for code in DTYPES}
np.savez(HERE / "stored.npz", **every)
np.savez_compressed(HERE / "deflated.npz", **every)
np.savez(HERE / "fortran.npz", **{code: array(code, shape, order="F") for code in DTYPES})
np.savez_compressed(
    HERE / "fortran_deflated.npz", **{code: array(code, shape, order="F") for code in DTYPES}
)
np.savez(HERE / "big_endian.npz", **{code: array(code, shape, byte_order=">") for code in DTYPES})

for version in [(1, 0), (2, 0), (3, 0)]:
    npy(f"version_{version[0]}.npy", array("i4", (3, 4)), version)
npy("fortran_big.npy", array("f8", (4, 6), order="F", byte_order=">"))
npy("scalar.npy", np.float32(2.5))
npy("rank_8.npy", array("u2", (2, 1, 3, 1, 2, 1, 2, 2)))
bits = [0x7FC00000, 0x7FA00001, 0xFFC12345, 0x80000000, 0x7F800000, 0xFF800000, 1, 0x3F800000]
npy("bits.npy", np.array(bits, "<u4").view("<f4"))
npy("bits_big.npy", np.array(bits, ">u4").view(">f4"))

npy("refused_object.npy", np.array([{}, None], dtype=object))
npy("refused_string.npy", np.array(["a", "bc"]))
npy("refused_bytes.npy", np.array([b"a", b"bc"]))
npy("refused_structured.npy", np.zeros(2, dtype=[("x", "<f4"), ("y", "<i2")]))
npy("refused_datetime.npy", np.array(["2024-01-01"], "M8[D]"))
npy("refused_void16.npy", np.zeros(2, "V2"))
npy("refused_longdouble.npy", np.zeros(2, np.longdouble))
npy("refused_empty.npy", np.zeros((3, 0), "<f4"))
npy("refused_rank_9.npy", np.zeros((1,) * 9, "<f4"))

with zipfile.ZipFile(HERE / "mixed.npz", "w") as out:
    for name, value in [("good.npy", array("i2", (3,))), ("text.npy", np.array(["x"]))]:
        buffer = io.BytesIO()
        np.save(buffer, value)
        out.writestr(zipfile.ZipInfo(name), buffer.getvalue())
    out.writestr(zipfile.ZipInfo("notes.txt"), "not an array")
    buffer = io.BytesIO()
    np.save(buffer, array("f4", (2, 2)))
    out.writestr(zipfile.ZipInfo("group/b.npy.npy"), buffer.getvalue())


class Pipe(io.RawIOBase):
    """An output that cannot seek, so that the archive's sizes follow the members."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, part):
        return self.file.write(part)


with zipfile.ZipFile(Pipe(HERE / "streamed.npz"), "w", zipfile.ZIP_DEFLATED) as out:
    with out.open(zipfile.ZipInfo("a.npy"), "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array("f8", (6, 5)))


def netcdf(name, form, codes):
    """Fixed variables and those with 4 records, of every number type, and text."""
    import netCDF4

    with netCDF4.Dataset(HERE / name, "w", format=form) as out:
        out.title = "made by the NetCDF library"
        out.createDimension("time", None)
        out.createDimension("lat", 3)
        out.createDimension("lon", 5)
        for code in codes:
            for dims, shape in [(("lat", "lon"), (3, 5)), (("time", "lat"), (4, 3))]:
                variable = out.createVariable(f"{code}_{dims[0]}", code, dims)
                variable.set_auto_maskandscale(False)
                variable[:] = array(code, shape)
                variable.units = "K"
                variable.factors = np.array([0.5, -1e30, np.nan], "f4")
        text = out.createVariable("text", "S1", ("lat",))
        text[:] = np.array([b"a", b"b", b"c"])


netcdf("classic.nc", "NETCDF3_CLASSIC", "i1 i2 i4 f4 f8".split())
netcdf("offset.nc", "NETCDF3_64BIT_OFFSET", "i1 i2 i4 f4 f8".split())
netcdf("data.nc", "NETCDF3_64BIT_DATA", "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8".split())
