"""Files of the `ztensor` package, and files that it is to read.

python zt_files.py write FOLDER SEED COUNT   writes so many files, each with its sheet
python zt_files.py read FOLDER               reads every file of a folder, each against its sheet
"""

import pathlib
import sys

import numpy as np
import ztensor
from ztensor import ffi, lib

import sheets


def write(path, tensors):
    """Writes tensors; by the library under the package, whose own writer has no scalars."""
    writer = lib.ztensor_writer_create(str(path).encode())
    assert writer != ffi.NULL, path
    for name, dtype, shape, content in tensors:
        extents = ffi.new("uint64_t[]", shape or [0])
        elements = ffi.from_buffer("unsigned char[]", content or b"\0")
        status = lib.ztensor_writer_add_tensor(
            writer, name.encode(), extents, len(shape), dtype.encode(), elements, len(content)
        )
        assert status == 0, (path, name, ffi.string(lib.ztensor_last_error_message()))
    assert lib.ztensor_writer_finalize(writer) == 0, path


def read(path):
    """Compares a file with its sheet; returns how many tensors it has."""
    wanted = sheets.read(path)
    with ztensor.Reader(str(path)) as reader:
        names = [name for name, *_ in wanted]
        assert reader.get_tensor_names() == names, (path, reader.get_tensor_names())
        for listed, (name, dtype, shape, content) in zip(reader.list_tensors(), wanted):
            assert listed.name == name, (path, name)
            found = reader.read_tensor(name)
            told = (listed.dtype_str, list(listed.shape), list(found.shape))
            assert told == (dtype, shape, shape), (path, name, told)
            assert np.asarray(found).tobytes() == content, f"{path}: {name!r} has other elements"
    return len(wanted)


def main():
    """Does what the first argument says."""
    word, folder, *numbers = sys.argv[1:]
    if word == "write":
        seed, count = map(int, numbers)
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            path = pathlib.Path(folder) / f"theirs-{number:03}.zt"
            tensors = sheets.random_tensors(rng, sheets.ZTENSOR)
            write(path, tensors)
            sheets.write(path, tensors)
        return
    paths = sorted(pathlib.Path(folder).glob("*.zt"))
    print(sum(read(path) for path in paths))


main()
