"""Files of the `safetensors` package, and files that it is to read.

python st_files.py write FOLDER SEED COUNT   writes so many files, each with its sheet
python st_files.py read FOLDER               reads every file of a folder, each against its sheet
"""

import pathlib
import sys

import numpy as np
import safetensors

import sheets

# The words of the format, where they are not the letter and the bits.
WORDS = {
    "bool": "BOOL",
    "bfloat16": "BF16",
    "complex64": "C64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2": "F8_E5M2",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
    "float8_e8m0fnu": "F8_E8M0",
}
# Text that a careless writer of JSON spells otherwise.
TEXTS = ["pt", "", "caf\u00e9", "\U0001f600", '"\\/', "\n\t\u0001\u007f", "1.0", "null", "{}"]


def write(path, tensors, said):
    """Writes tensors, and what is said of the file."""
    held = {name: np.frombuffer(content or b"\0", np.uint8) for name, *_, content in tensors}
    specs = {
        name: safetensors.TensorSpec(
            dtype=dtype, shape=shape, data_ptr=held[name].ctypes.data, data_len=len(content)
        )
        for name, dtype, shape, content in tensors
    }
    safetensors.serialize_file(specs, str(path), metadata=said)


def random_said(rng):
    """Nothing, one field, or several, in an order that the package draws by lot."""
    count = int(rng.integers(0, 5))
    keys = [f"key{number}" for number in range(count - 1)] + ["format"]
    return {key: str(rng.choice(TEXTS)) for key in keys} if count else None


def read(path):
    """Compares a file with its sheet; returns how many tensors it has."""
    found = dict(safetensors.deserialize(path.read_bytes()))
    # What is said of a zTensor file is a tensor there, and none here.
    wanted = [tensor for tensor in sheets.read(path) if tensor[0] != "__metadata__"]
    assert len(found) == len(wanted), (path, sorted(found))
    for name, dtype, shape, content in wanted:
        word = WORDS.get(dtype, dtype[0].upper() + dtype.lstrip("abcdefghijklmnopqrstuvwxyz"))
        told = (found[name]["dtype"], list(found[name]["shape"]))
        assert told == (word, shape), (path, name, told)
        assert bytes(found[name]["data"]) == content, f"{path}: {name!r} has other elements"
    return len(wanted)


def main():
    """Does what the first argument says."""
    word, folder, *numbers = sys.argv[1:]
    folder = pathlib.Path(folder)
    if word == "write":
        seed, count = map(int, numbers)
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            path = folder / f"theirs-{number:03}.safetensors"
            tensors = sheets.random_tensors(rng, sheets.SAFETENSORS)
            write(path, tensors, random_said(rng))
            sheets.write(path, tensors)
    else:
        print(sum(read(path) for path in sorted(folder.glob("*.safetensors"))))


main()
