"""Makes the files of committed datatypes of this folder with h5py 3 and netCDF4 1.7; see README.md."""
from pathlib import Path

import h5py
import netCDF4
import numpy as np

HERE = Path(__file__).parent

with h5py.File(HERE / "types.h5", "w", libver="latest") as file:
    file["kinds"] = h5py.enum_dtype({"clear": 0, "cloudy": 1}, basetype="u1")
    file["kinds"].attrs["author"] = "me"
    file.create_dataset("sky", data=np.array([0, 1, 1], "u1"), dtype=file["kinds"])
    for number in range(20):
        file[f"unused/t{number:02}"] = np.dtype(f"S{number + 1}")

with netCDF4.Dataset(HERE / "types.nc", "w") as file:
    file.createDimension("x", 2)
    for number in range(3):
        names = {f"no{number}": 0, f"yes{number}": 1}
        kind = file.createEnumType(np.uint8, f"kind{number}_t", names)
        file.createVariable(f"v{number}", kind, ("x",))[:] = [0, 1]
    pair = np.dtype([("a", "f4"), ("b", "i2")])
    file.createCompoundType(pair, "pair_t")
    nested = file.createCompoundType(np.dtype([("pair", pair), ("n", "i4")]), "nested_t")
    file.createVariable("structures", nested, ("x",))[:] = np.zeros(2, nested.dtype)
    lists = file.createVariable("lists", file.createVLType(np.int32, "list_t"), ("x",))
    lists[0], lists[1] = np.arange(2, dtype="i4"), np.arange(3, dtype="i4")

with h5py.File(HERE / "groups.h5", "w", libver="latest") as file:
    file["top"] = np.arange(3, dtype="i2")
    file["model/t"] = np.arange(2, dtype="f4")
    file.attrs["title"] = "groups"
    file["model"].attrs.update(version=3, scale=[0.5, 1.5], name="of the model")
    # A group that has nothing but attributes.
    file.create_group("about/run").attrs.update(step=np.int64(7), host="here")
