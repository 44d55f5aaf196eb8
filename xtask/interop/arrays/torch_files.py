"""PyTorch checkpoints with true values: python torch_files.py FOLDER SEED.

PyTorch is not needed: the files have the layout that torch.save of PyTorch 2 writes, a pickle of Python with persistent ids
for storages in a zip archive without compression, and the names of its functions and classes.
"""

import collections
import pathlib
import pickle
import struct
import sys
import types
import zipfile

import numpy as np

from truth import Truth, generator, random

CLASSES = {
    "f8": "DoubleStorage", "f4": "FloatStorage", "f2": "HalfStorage", "bf16": "BFloat16Storage", "i8": "LongStorage",
    "i4": "IntStorage", "i2": "ShortStorage", "i1": "CharStorage", "u1": "ByteStorage", "b1": "BoolStorage",
    "c8": "ComplexFloatStorage", "c16": "ComplexDoubleStorage",
}
NEW = {"u2": "uint16", "u4": "uint32", "u8": "uint64", "f8e4": "float8_e4m3fn", "f8e5": "float8_e5m2"}
NAMES = {"bf16": "bfloat16", "f8e4": "float8_e4m3fn", "f8e5": "float8_e5m2"}
STORED = {"bf16": "u2", "f8e4": "u1", "f8e5": "u1"}
CASES = {}


def module(name, *functions, **classes):
    """A module of these names, as the pickle of a real one has them."""
    made = types.ModuleType(name)
    for text in functions:
        def function():
            raise AssertionError("it is not called here")
        function.__module__, function.__name__, function.__qualname__ = name, text, text
        setattr(made, text, function)
    for key, value in classes.items():
        setattr(made, key, value)
    sys.modules[name] = made
    return made


def kind(name, text):
    return type(text, (), {"__module__": name, "__qualname__": text})


STORAGES = {text: kind("torch", text) for text in CLASSES.values()}
TORCH = module("torch", **STORAGES)
UTILS = module(
    "torch._utils", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter", "_rebuild_sparse_tensor",
    "_rebuild_qtensor",
)
UNTYPED = kind("torch.storage", "UntypedStorage")
module("torch.storage", UntypedStorage=UNTYPED)
TORCH.Size = type("Size", (tuple,), {"__module__": "torch", "__qualname__": "Size", "__reduce__": lambda self: (type(self), (tuple(self),))})


class Dtype:
    """A type of PyTorch, which is pickled by its name in the module."""

    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        return self.name


for text in NEW.values():
    made = Dtype(text)
    made.__module__ = made.__qualname__ = "torch"
    setattr(TORCH, text, made)


class Storage:
    def __init__(self, values, code):
        self.values, self.code = np.ascontiguousarray(values).ravel(), code


class Tensor:
    """Elements of a storage."""

    def __init__(self, values, code, storage=None, offset=0, shape=None, strides=None, metadata=None):
        values = np.asarray(values)
        self.code, self.storage, self.offset = code, storage or Storage(values, code), offset
        self.shape = values.shape if shape is None else shape
        contiguous = np.lib.stride_tricks.as_strided(np.empty(0), self.shape).shape
        count, self.strides = 1, []
        for extent in reversed(contiguous):
            self.strides.insert(0, count)
            count *= max(extent, 1)
        self.strides = tuple(self.strides) if strides is None else strides
        self.metadata = metadata

    def __reduce_ex__(self, protocol):
        view = (self.storage, self.offset, tuple(map(int, self.shape)), tuple(map(int, self.strides)))
        hooks = (False, collections.OrderedDict())
        if self.code in NEW:
            return UTILS._rebuild_tensor_v3, (*view, *hooks, getattr(TORCH, NEW[self.code]))
        more = () if self.metadata is None else (self.metadata,)
        return UTILS._rebuild_tensor_v2, (*view, *hooks, *more)

    def values(self):
        flat = self.storage.values
        size = flat.dtype.itemsize
        steps = [stride * size for stride in self.strides]
        return np.lib.stride_tricks.as_strided(flat[self.offset:], self.shape, steps).copy()


class Parameter:
    def __init__(self, data):
        self.data = data

    def __reduce_ex__(self, protocol):
        return UTILS._rebuild_parameter, (self.data, True, collections.OrderedDict())


class Called:
    """A call of a function with arguments that are not read."""

    def __init__(self, name, *arguments):
        self.name, self.arguments = name, arguments

    def __reduce_ex__(self, protocol):
        return getattr(UTILS, self.name), self.arguments


class Pickler(pickle.Pickler):
    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.storages = {}

    def persistent_id(self, obj):
        if not isinstance(obj, Storage):
            return None
        key, _ = self.storages.setdefault(id(obj), (str(len(self.storages)), obj))
        if obj.code in NEW:
            return "storage", UNTYPED, key, "cpu", int(obj.values.nbytes)
        return "storage", STORAGES[CLASSES[obj.code]], key, "cuda:0", int(obj.values.size)


def save(path, value, order="little", protocol=2):
    """What torch.save does: storages begin at multiples of 64 bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        buffer = __import__("io").BytesIO()
        pickler = Pickler(buffer, protocol)
        pickler.dump(value)
        member(archive, "data.pkl", buffer.getvalue())
        member(archive, "byteorder", order.encode())
        for key, storage in pickler.storages.values():
            values = storage.values
            swapped = values.astype(values.dtype.newbyteorder(">")) if order == "big" else values
            member(archive, f"data/{key}", swapped.tobytes())
        member(archive, "version", b"3\n")
        member(archive, ".data/serialization_id", b"0" * 40)


def member(archive, name, content):
    entry = zipfile.ZipInfo(f"archive/{name}")
    at = archive.fp.tell() + 30 + len(entry.filename) + 4
    entry.extra = struct.pack("<2sH", b"FB", -at % 64) + b"Z" * (-at % 64)
    archive.writestr(entry, content)


def case(name, order="little", protocol=2):
    def register(make):
        CASES[name] = make, order, protocol
        return make

    return register


def of_code(rng, code, shape):
    return random(rng, STORED.get(code, code), shape)


for order in ("little", "big"):

    @case(f"types_{order}", order)
    def kinds(rng):
        return collections.OrderedDict(
            (f"{code}.{number}", Tensor(of_code(rng, code, shape), code))
            for code in [*CLASSES, *NEW] for number, shape in enumerate([(7,), (3, 4), (), (0, 2), (2, 3, 1, 5)])
        )


for protocol in (2, 3, 4, 5):

    @case(f"nested_{protocol}", protocol=protocol)
    def nested(rng):
        layers = {f"layer{number}": Parameter(Tensor(random(rng, "f4", (4, number + 1)), "f4")) for number in range(3)}
        moments = {number: {"step": 10 + number, "exp_avg": Tensor(random(rng, "f4", (4, 2)), "f4")} for number in range(2)}
        groups = [{"lr": 0.001, "betas": (0.9, 0.999), "params": [0, 1], "amsgrad": False, "name": "caf\u00e9"}]
        inner = [Tensor(random(rng, "i8", (3,)), "i8"), (Tensor(random(rng, "i2", (2, 2)), "i2"),)]
        return {
            "model": collections.OrderedDict(layers), "optimizer": {"state": moments, "param_groups": groups},
            "epoch": 2**40, "best": -0.5, "none": None, "list": inner, "size": TORCH.Size((3, 4)), "big": 2**200,
        }


@case("views")
def views(rng):
    base = Storage(random(rng, "f4", (4 * 6 * 5,)), "f4")
    part = {"storage": base, "code": "f4", "values": np.empty(0)}
    return {
        "all": Tensor(**part, shape=(4, 6, 5)),
        "transposed": Tensor(**part, shape=(5, 24), strides=(1, 5)),
        "permuted": Tensor(**part, shape=(5, 4, 6), strides=(1, 30, 5)),
        "rows": Tensor(**part, shape=(2, 6, 5), offset=30),
        "columns": Tensor(**part, shape=(4, 6, 2), strides=(30, 5, 1), offset=3),
        "steps": Tensor(**part, shape=(12,), strides=(10,)),
        "expanded": Tensor(**part, shape=(3, 30), strides=(0, 1)),
        "windows": Tensor(**part, shape=(10, 4), strides=(1, 1), offset=7),
        "one": Tensor(**part, shape=(), strides=(), offset=119),
        "empty": Tensor(**part, shape=(0, 7), strides=(7, 1)),
        "ones": Tensor(**part, shape=(1, 120, 1), strides=(999, 1, 77)),
    }


@case("views_big", "big")
def views_big(rng):
    base = Storage(random(rng, "c16", (24,)), "c16")
    part = {"storage": base, "code": "c16", "values": np.empty(0)}
    return [Tensor(**part, shape=(6, 4), strides=(1, 6)), Tensor(**part, shape=(4, 6))]


@case("large")
def large(rng):
    base = Storage(random(rng, "f8", (1_300_000,)), "f8")
    part = {"storage": base, "code": "f8", "values": np.empty(0)}
    return {"w": Tensor(**part, shape=(1300, 1000)), "w.t": Tensor(**part, shape=(1000, 1300), strides=(1, 1000))}


@case("single")
def single(rng):
    return Tensor(random(rng, "f4", (5, 6)), "f4")


@case("others")
def others(rng):
    plain = Tensor(random(rng, "f4", (3,)), "f4")
    return {
        "plain": plain, "date": __import__("datetime").date(2020, 1, 2), "bytes": b"\x00\x01",
        "sparse": Called("_rebuild_sparse_tensor", "layout", (plain, plain, (3,))),
        "quantized": Called("_rebuild_qtensor", plain.storage, 0, (3,), (1,), (), False, collections.OrderedDict()),
        "conjugate": Tensor(random(rng, "c8", (3,)), "c8", metadata={"conj": True}),
    }


def flat(value, path=""):
    """The tensors of a value and their names."""
    if isinstance(value, Parameter):
        value = value.data
    if isinstance(value, (Tensor, Called)):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from flat(inner, f"{path}.{number}" if path else str(number))


def record(path, value, folder):
    truth = Truth(folder, path.name, "torch")
    for name, tensor in flat(value):
        if isinstance(tensor, Called) or tensor.metadata:
            truth.dataset(name, "other", [], "tensor")
            continue
        values, code = tensor.values(), tensor.code
        dtype = NAMES.get(code, values.dtype.name)
        # What nothing computes with is listed alone.
        kind = "other" if dtype.startswith("float8") else "numbers"
        truth.dataset(name or path.stem, kind, values.shape, dtype, values=values if kind == "numbers" else None)
    truth.write()


def main():
    """Writes every case and its truth."""
    folder, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    (folder / "files").mkdir(parents=True, exist_ok=True)
    for name, (make, order, protocol) in CASES.items():
        path = folder / "files" / f"{name}.pt"
        value = make(generator(seed, name))
        save(path, value, order, protocol)
        record(path, value, folder / "truth")
    print(len(CASES), "files")


if __name__ == "__main__":
    main()
