"""Tensors of PyTorch from every file that this package reads, and into those that it writes.

>>> import torch
>>> import tetfile.torch
>>> tetfile.torch.save({"weight": torch.ones(2, 3, dtype=torch.bfloat16)}, "model.zt")
>>> tetfile.torch.load("model.zt")["weight"].dtype
torch.bfloat16
>>> with tetfile.torch.safe_open("model.zt", "pt") as f:
...     f.get_slice("weight")[:, 1:].shape
torch.Size([2, 2])
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np

from . import _dataset, _file, _index, _mapped, _tetfile
from ._errors import LimitError, UnsupportedError, UsageError

try:
    import torch
except ImportError as error:
    raise ImportError("tetfile.torch needs PyTorch: pip install torch") from error

__all__ = ["Dataset", "load", "load_file", "safe_open", "save", "save_file", "tensor"]

# The types of safetensors, in the order in which its library writes them.
_CODES = {
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
    "complex64": "C64",
    "float32": "F32",
    "uint32": "U32",
    "int32": "I32",
    "bfloat16": "BF16",
    "float16": "F16",
    "uint16": "U16",
    "int16": "I16",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e8m0fnu": "F8_E8M0",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
# The name of the texts of a file in safetensors and zTensor.
_METADATA = "__metadata__"

# Bytes of a tensor that is read at once, at most, as of any result.
_RESULT_MAX = 16 << 30

Device: TypeAlias = "str | int | torch.device"


def tensor(dataset: _dataset.Dataset, device: Device = "cpu", *, mmap: bool = False) -> torch.Tensor:
    """The elements of a dataset, or of a part of one.

    With ``mmap=True`` the tensor is a view of a memory map, private to the process when it is written; what
    :meth:`tetfile.Dataset.memmap` says of other programs applies.

    Raises:
        UnsupportedError: PyTorch has no elements of the type, or they cannot be seen in a map.
        LimitError: The elements have more than 16 GiB and are to be read.

    >>> temp = tetfile.open("climate.tet")["temp"]
    >>> tetfile.torch.tensor(temp.isel(time=0, lat=0))[:3]
    tensor([288., 289., 290.])
    """
    dtype = _dtype(dataset)
    if mmap:
        found = _mapped.view(dataset, _bits(dtype), "c")
        if found.dtype.byteorder == ">":
            raise UnsupportedError(f"{dataset.name!r} has no memory map in PyTorch: its numbers are big-endian")
        return torch.from_numpy(found).view(dtype).reshape(dataset.shape).to(device)
    length = dataset.size * dtype.itemsize
    if length > _RESULT_MAX:
        message = f"{dataset.name!r} has {length} bytes, and at most {_RESULT_MAX} are read: read parts, or mmap=True"
        raise LimitError(message, path=dataset.file.path, dataset=dataset.name)
    if dataset._core.picks:
        return _of_array(dataset[...], dtype).to(device)
    out = torch.empty(dataset.shape, dtype=dtype)
    if out.numel():
        _tetfile.read_into(dataset._core, out.reshape(-1).view(torch.uint8).numpy())
    return out.to(device)


def load(
    path: str | os.PathLike[str],
    device: Device = "cpu",
    *,
    keys: Iterable[str] | None = None,
    mmap: bool = False,
) -> dict[str, torch.Tensor]:
    """The tensors of a file of any format, by name: safetensors, zTensor, checkpoints of PyTorch, GGUF, ``.npz``, HDF5.

    Checkpoints are read as data: nothing in them is imported or called.

    Args:
        path: The file.
        device: Where the tensors are.
        keys: Only these datasets.
        mmap: Whether tensors are views of a memory map.

    Raises:
        OSError: The system refuses to open it.
        UnsupportedError: A dataset is no tensor; ``keys`` leaves it out.

    >>> sorted(tetfile.torch.load("climate.nc"))
    ['lat', 'lon', 'month', 'temp', 'time']
    """
    with _file.open(path) as file:
        names = _names(file) if keys is None else keys
        return {name: tensor(file.dataset(name), device, mmap=mmap) for name in names}


def load_file(filename: str | os.PathLike[str], device: Device = "cpu") -> dict[str, torch.Tensor]:
    """The tensors of a file by name, as ``safetensors.torch.load_file``.

    >>> tetfile.torch.load_file("climate.tet")["month"].dtype
    torch.int32
    """
    return load(filename, device)


def save(
    tensors: Mapping[str, torch.Tensor],
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> None:
    """Writes tensors to a new file, whose suffix tells the format: ``.safetensors``, ``.zt``, ``.tet`` and others.

    Values are exact, of ``bfloat16`` and ``float8`` too, and scalars come back as scalars from the first three. Tensors
    that are not contiguous are written in row-major order. The file appears complete or not at all.

    Raises:
        UsageError: Tensors share memory, of which a file would have copies; or the format has no elements of a type.
        FileExistsError: The file exists, and ``overwrite`` is not set.

    >>> import torch
    >>> tetfile.torch.save({"a": torch.arange(3)}, "a.tet", metadata={"step": "7"})
    >>> tetfile.open("a.tet").attrs["step"]
    '7'
    """
    _check_shared(tensors)
    order = list(_CODES)
    sizes = {name: _code(name, one) for name, one in tensors.items()}
    names = sorted(tensors, key=lambda name: (order.index(sizes[name]), name))
    header: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    pieces, end = [], 0
    for name in names:
        one = tensors[name].detach().to("cpu").resolve_conj().resolve_neg().contiguous()
        start, end = end, end + one.numel() * one.element_size()
        code = _CODES[sizes[name]]
        header[name] = {"dtype": code, "shape": list(one.shape), "data_offsets": [start, end]}
        pieces.append(one.reshape(-1).view(torch.uint8).numpy() if one.numel() else b"")
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    asked = {"include": [], "exclude": [], "overwrite": overwrite, "dtypes": [], "chunks": [], "stats": True, "digests": "auto", "salvage": False}
    asked |= {"merge": False, "raw_values": True, "decoded": False, "renames": []} | dict.fromkeys(("codec", "level", "concat", "stack", "prefer"))
    _tetfile.convert_pieces([struct.pack("<Q", len(text)) + text, *pieces], path, asked)


def save_file(
    tensors: Mapping[str, torch.Tensor], filename: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Writes tensors as ``safetensors.torch.save_file``: a file that exists is replaced.

    >>> import torch
    >>> tetfile.torch.save_file({"a": torch.arange(3)}, "a.safetensors", {"step": "7"})
    """
    save(tensors, filename, metadata=metadata, overwrite=True)


class safe_open:
    """The tensors of a file, read one by one, as ``safetensors.safe_open``.

    ``framework`` is ``"pt"`` for tensors or ``"np"`` for arrays of NumPy.

    Raises:
        OSError: The system refuses to open the file.

    >>> with tetfile.torch.safe_open("climate.tet", framework="pt", device="cpu") as f:
    ...     print(f.keys())
    ...     print(f.get_tensor("month")[:3], f.get_slice("temp").get_shape())
    ['lat', 'lon', 'month', 'temp', 'time']
    tensor([1, 2, 3], dtype=torch.int32) [12, 4, 8]
    """

    def __init__(self, filename: str | os.PathLike[str], framework: str = "pt", device: Device = "cpu") -> None:
        if framework not in _FRAMEWORKS:
            raise ValueError(f"framework={framework!r} is not one of pt, np")
        self._is_torch = _FRAMEWORKS[framework]
        self._device = device
        self._file = _file.open(filename)

    def keys(self) -> list[str]:
        """The names, sorted."""
        return sorted(_names(self._file))

    def offset_keys(self) -> list[str]:
        """The names, in the order of the file."""
        return _names(self._file)

    def metadata(self) -> dict[str, str] | None:
        """The attributes of the file that are texts, or ``None`` where there are none."""
        return {name: value for name, value in self._file.attrs.items() if isinstance(value, str)} or None

    def get_tensor(self, name: str) -> Any:
        """All elements of a tensor.

        Raises:
            NotFoundError: There is none of this name.
        """
        dataset = self._file.dataset(name)
        return tensor(dataset, self._device) if self._is_torch else dataset[...]

    def get_slice(self, name: str) -> Slice:
        """A tensor of which parts are read when it is indexed."""
        return Slice(self._file.dataset(name), self._device if self._is_torch else None)

    def __enter__(self) -> safe_open:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()


_FRAMEWORKS = {"pt": True, "torch": True, "pytorch": True, "np": False, "numpy": False}


class Slice:
    """A tensor of which parts are read when it is indexed."""

    def __init__(self, dataset: _dataset.Dataset, device: Device | None) -> None:
        self._dataset = dataset
        self._device = device

    def get_shape(self) -> list[int]:
        """The extents."""
        return list(self._dataset.shape)

    def get_dtype(self) -> str:
        """The type as safetensors names it, or as this package does where it has none."""
        name = _name(self._dataset)
        return _CODES.get(name, name)

    def __getitem__(self, key: Any) -> Any:
        if self._device is None:
            return self._dataset[key]
        part = _part(self._dataset, key)
        if part is not None:
            return tensor(part, self._device)
        return _of_array(self._dataset[key], _dtype(self._dataset)).to(self._device)


def _part(dataset: _dataset.Dataset, key: Any) -> _dataset.Dataset | None:
    """The part at integers and slices, unread; ``None`` for other keys."""
    items = list(key) if isinstance(key, tuple) else [key]
    if items.count(Ellipsis) == 1:
        at = items.index(Ellipsis)
        items[at : at + 1] = [slice(None)] * (dataset.ndim - len(items) + 1)
    items += [slice(None)] * (dataset.ndim - len(items))
    if len(items) != dataset.ndim or any(not isinstance(item, int | slice) or isinstance(item, bool) for item in items):
        return None
    pairs = zip(items, dataset.shape, strict=True)
    picks = [_index.positions(item, extent, axis) for axis, (item, extent) in enumerate(pairs)]
    return _dataset.Dataset(dataset.file, _tetfile.select(dataset._core, picks))


class Dataset(torch.utils.data.Dataset[Any]):
    """Samples along the first axis of one dataset or several, for ``torch.utils.data.DataLoader``.

    A sample is a tensor, a tuple of those of several datasets, or a dict where they are given by name. A batch is read
    at once, and workers may be forked or spawned.

    Raises:
        ValueError: There is no dataset, one has no axis, or their first axes are of different extents.

    >>> import torch
    >>> f = tetfile.open("climate.tet")
    >>> samples = tetfile.torch.Dataset(f["temp"], f["month"])
    >>> len(samples), samples[11][1]
    (12, tensor(12, dtype=torch.int32))
    >>> loader = torch.utils.data.DataLoader(samples, batch_size=5)
    >>> [temp.shape[0] for temp, month in loader]
    [5, 5, 2]
    """

    def __init__(self, *datasets: _dataset.Dataset, **named: _dataset.Dataset) -> None:
        if bool(datasets) == bool(named):
            raise ValueError("pass datasets one after the other, or by name")
        self._datasets: dict[Any, _dataset.Dataset] = {**dict(enumerate(datasets)), **named}
        extents = {dataset.shape[:1] for dataset in self._datasets.values()}
        if len(extents) != 1 or extents == {()}:
            raise ValueError(f"datasets have {sorted(extents)} as their first axes, and need one of the same extent")
        self._dtypes = {key: _dtype(dataset) for key, dataset in self._datasets.items()}

    def __len__(self) -> int:
        return len(next(iter(self._datasets.values())))

    def __getitem__(self, index: int) -> Any:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Several samples, read at once."""
        at = np.asarray(indices, dtype=np.intp)
        columns = {key: _of_array(of[at], self._dtypes[key]) for key, of in self._datasets.items()}
        return [self._sample({key: column[number] for key, column in columns.items()}) for number in range(len(at))]

    def _sample(self, parts: dict[Any, torch.Tensor]) -> Any:
        if 0 not in parts:
            return parts
        return parts[0] if len(parts) == 1 else tuple(parts.values())


def _names(file: _file.File) -> list[str]:
    """The names of tensors: zTensor has the attributes of the file in one that has no elements."""
    return [name for name in file if name != _METADATA or file.dataset(name).shape != (0,)]


def _dtype(dataset: _dataset.Dataset) -> torch.dtype:
    """The type of PyTorch."""
    if dataset.fault is not None:
        raise UnsupportedError(f"{dataset.name!r} cannot be read: {dataset.fault}", dataset=dataset.name)
    name = _name(dataset)
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype) or name not in (*_CODES, "complex128"):
        message = f"PyTorch has no elements of {dataset.dtype_name}, of which {dataset.name!r} is: keys= leaves it out"
        raise UnsupportedError(message, path=dataset.file.path, dataset=dataset.name)
    return found


def _name(dataset: _dataset.Dataset) -> str:
    """The name of the type; of quantized elements that of the numbers that they are decoded to."""
    name = dataset.dtype_name
    return dataset.dtype.name if name not in _CODES and dataset._core.is_number else name


def _bits(dtype: torch.dtype) -> np.dtype[Any]:
    """A type of NumPy for the same bits, from which tensors are seen as their own."""
    name = str(dtype).removeprefix("torch.")
    return np.dtype(f"u{dtype.itemsize}" if name.startswith(("bfloat", "float8")) else name)


def _of_array(array: Any, dtype: torch.dtype) -> torch.Tensor:
    """A tensor of the bits of an array of NumPy, which may be of a type that PyTorch does not take from it."""
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    if array.size == 0:
        return torch.empty(array.shape, dtype=dtype)
    return torch.from_numpy(array.reshape(-1).view("u1")).view(dtype).reshape(array.shape)


def _code(name: str, one: torch.Tensor) -> str:
    """The type of a tensor that is to be written."""
    if not isinstance(one, torch.Tensor):
        raise UsageError(f"{name!r} is no tensor but {type(one).__name__}", dataset=name)
    if name == _METADATA:
        raise UsageError(f"no tensor can be called {_METADATA}", dataset=name)
    if one.device.type == "meta":
        raise UsageError(f"{name!r} has no elements: it is on the device meta", dataset=name)
    if one.layout != torch.strided:
        raise UsageError(f"{name!r} is not dense: write its parts, or one.to_dense()", dataset=name)
    found = str(one.dtype).removeprefix("torch.")
    if found not in _CODES:
        raise UsageError(f"{name!r} is of {found}, which is not written: convert it first", dataset=name)
    return found


def _check_shared(tensors: Mapping[str, torch.Tensor]) -> None:
    """Refuses tensors that share memory."""
    areas = []
    for name, one in tensors.items():
        if isinstance(one, torch.Tensor) and one.layout == torch.strided and one.numel() and one.device.type != "meta":
            span = sum((extent - 1) * step for extent, step in zip(one.shape, one.stride(), strict=True)) + 1
            areas.append((str(one.device), one.data_ptr(), one.data_ptr() + span * one.element_size(), name))
    areas.sort()
    for (device, _, end, first), (other, start, _, second) in zip(areas, areas[1:], strict=False):
        if device == other and start < end:
            raise UsageError(
                f"{first!r} and {second!r} share memory, of which a file would have two copies: write one of them, or "
                "clones of both",
                dataset=second,
            )
