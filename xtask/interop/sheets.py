"""Tensors beside a file that holds them: `X.json` says what they are, `X.bin` has their bytes."""

import json
import pathlib

import numpy as np

# Bits of an element, by the names that zTensor and the extensions of NumPy have for the types.
ZTENSOR = {
    "float64": 64,
    "float32": 32,
    "float16": 16,
    "bfloat16": 16,
    "int64": 64,
    "int32": 32,
    "int16": 16,
    "int8": 8,
    "uint64": 64,
    "uint32": 32,
    "uint16": 16,
    "uint8": 8,
    "bool": 8,
}
# And those that a safetensors file may have beside them.
SAFETENSORS = {
    **ZTENSOR,
    "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8,
    "complex64": 64,
}
NAMES = ["", "a/b", "layers.0.weight", "caf\u00e9", "\U0001f600", " ", "#0", "x[1]", "w\n"]


def random_tensors(rng, bits):
    """Some tensors: name, dtype, shape, bytes."""
    tensors = {}
    for number in range(int(rng.integers(1, 20))):
        dtype = str(rng.choice(list(bits)))
        name = str(rng.choice(NAMES)) if rng.random() < 0.2 else f"{dtype}.{number}"
        shape = [int(extent) for extent in rng.integers(0, 6, size=rng.integers(0, 5))]
        if rng.random() < 0.1:
            shape = [int(rng.integers(1000, 100_000))]
        count = int(np.prod(shape, dtype=np.int64))
        content = rng.integers(0, 2 if dtype == "bool" else 256, size=count * bits[dtype] // 8)
        tensors[name] = (name, dtype, shape, content.astype(np.uint8).tobytes())
    return list(tensors.values())


def write(path, tensors):
    """Writes a sheet for the file at `path`."""
    lines = [{"name": name, "dtype": dtype, "shape": shape} for name, dtype, shape, _ in tensors]
    pathlib.Path(path).with_suffix(".json").write_text(json.dumps(lines), encoding="utf-8")
    content = b"".join(content for *_, content in tensors)
    pathlib.Path(path).with_suffix(".bin").write_bytes(content)


def read(path):
    """The tensors of the sheet for the file at `path`."""
    lines = json.loads(pathlib.Path(path).with_suffix(".json").read_text(encoding="utf-8"))
    content, at, tensors = pathlib.Path(path).with_suffix(".bin").read_bytes(), 0, []
    for line in lines:
        count = int(np.prod(line["shape"], dtype=np.int64))
        end = at + count * SAFETENSORS[line["dtype"]] // 8
        tensors.append((line["name"], line["dtype"], line["shape"], content[at:end]))
        at = end
    assert at == len(content), f"{path}: {len(content) - at} bytes are left"
    return tensors
