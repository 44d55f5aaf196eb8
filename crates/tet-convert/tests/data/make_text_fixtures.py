"""Files of texts and structures: python make_text_fixtures.py, with h5py, netCDF4, numcodecs, zarr 3.

What is in them is stated in ../texts.rs and ../structures.rs.
"""

import pathlib
import warnings

import h5py
import netCDF4
import numpy as np
import zarr

HERE = pathlib.Path(__file__).parent
NAMES = ["Bergen", "Z\u00fcrich", "", "K\u00f8benhavn", "Rio"]
ROW = np.dtype([("t", ">f4"), ("at", [("x", "<i2"), ("y", "<i2")]), ("name", "S4"), ("v", "<u2", (2,)), ("z", "<c8")])


def rows(count):
    values = np.zeros(count, ROW)
    for at in range(count):
        values[at] = (at + 0.5, (at, -at), f"n{at}".encode(), (at, 2 * at), complex(at, -1))
    return values


def texts():
    with h5py.File(HERE / "texts.h5", "w", libver="earliest") as file:
        encoded = [name.encode() for name in NAMES]
        file.create_dataset("padded", data=np.array(encoded, "S12"))
        space = h5py.h5t.C_S1.copy()
        space.set_size(8)
        space.set_strpad(h5py.h5t.STR_SPACEPAD)
        made = h5py.h5d.create(file.id, b"spaces", space, h5py.h5s.create_simple((2,)))
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"ab  c   ", b"        "]), mtype=space)
        file.create_dataset("variable", data=NAMES, dtype=h5py.string_dtype())
        grid = np.array([[f"r{row}c{column}" * (row + 1) for column in range(3)] for row in range(4)], object)
        file.create_dataset("grid", data=grid, dtype=h5py.string_dtype(), chunks=(3, 2), compression="gzip", shuffle=True)
        file.create_dataset("fixed", data=grid.astype("S16"), chunks=(3, 2), compression="gzip")
        file.create_dataset("one", data="a,\"b\"\n", dtype=h5py.string_dtype())
        file.create_dataset("absent", shape=(3,), dtype=h5py.string_dtype(), chunks=(2,))
        file.create_dataset("broken", data=np.array([b"\xff\xfea"], "S3"))
        group = file.create_group("g/h")
        group["temp"] = np.arange(10, dtype="f4").reshape(2, 5)
        file["g/station"] = np.array(encoded, h5py.string_dtype())
        file["g/station"].make_scale("station")
        file["g/time"] = np.array([10, 20], "i4")
        file["g/time"].make_scale("time")
        group["temp"].dims[0].attach_scale(file["g/time"])
        group["temp"].dims[1].attach_scale(file["g/station"])
    with h5py.File(HERE / "structures.h5", "w", libver="earliest") as file:
        file["rows"] = rows(5)
        file.create_dataset("table", data=rows(7), chunks=(3,), compression="gzip", shuffle=True)
        mixed = np.zeros(3, [("name", h5py.string_dtype()), ("k", "<i4")])
        mixed["name"], mixed["k"] = ["a", "\u00e9\u00e9", ""], [1, -2, 3]
        file["mixed"] = mixed
        file.create_dataset("unwritten", shape=(2,), dtype=[("a", "<i2"), ("b", "<i2")], fillvalue=np.array((7, 9), [("a", "<i2"), ("b", "<i2")]))


def netcdf():
    for name, form in [("texts_classic.nc", "NETCDF3_CLASSIC"), ("texts_four.nc", "NETCDF4")]:
        with netCDF4.Dataset(HERE / name, "w", format=form) as file:
            file.createDimension("station", 3)
            file.createDimension("length", 4)
            char = file.createVariable("station", "S1", ("station", "length"))
            char[:] = netCDF4.stringtochar(np.array(["ab", "c", "defg"], "S4"))
            file.createVariable("flag", "S1", ())[...] = b"y"
            file.createVariable("temp", "f4", ("station",))[:] = [1, 2, 3]
            if form == "NETCDF4":
                text = file.createVariable("words", str, ("station",))
                text[:] = np.array(["x", "", "\u00e4"], object)


def zarrs():
    for version in (2, 3):
        path = HERE / f"texts_v{version}.zarr.zip"
        path.unlink(missing_ok=True)
        with zarr.storage.ZipStore(path, mode="w") as store:
            root = zarr.create_group(store, zarr_format=version)
            root.create_array("fixed", shape=(5,), chunks=(2,), dtype="<U9", fill_value="-")[:4] = NAMES[:4]
            root.create_array("bytes", shape=(2, 3), chunks=(2, 2), dtype="S4")[...] = np.array(
                [["ab", "c", ""], ["defg", "h", "i"]], "S4"
            )
            text = root.create_array("variable", shape=(2, 3), chunks=(1, 2), dtype=str, fill_value="none")
            text[0] = np.array(["a", "\u00e9\u00e9", ""], object)
            table = np.array([(1, b"x", 0.5), (2, b"yz", -1)], [("k", ">i4" if version == 2 else "<i4"), ("s", "S3"), ("f", "<f8")])
            root.create_array("table", shape=(2,), chunks=(2,), dtype=table.dtype)[...] = table


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    texts()
    netcdf()
    zarrs()
    np.save(HERE / "texts.npy", np.array([["a", "bc"], ["\u00e9", ""]], "<U2"))
