"""Runs works on tensor files by one library in a process of its own, as `tet-bench --peer weights`.

Takes `check WORK PATH` or `time WORK PATH` a line, answers with milliseconds and a number that all
libraries must agree on, or nan. A file is written out of the tensors of the `.safetensors` file that
has the first part of its name.
"""

import functools
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import numpy as np

# NumPy has no bfloat16: its bits.
DTYPES = {"F32": np.float32, "BF16": np.uint16}
GETS = 1000


class Old:
    """ztensor 0.1."""

    def write(tensors, path):
        import ztensor

        with ztensor.Writer(str(path)) as writer:
            for name, tensor in tensors.items():
                writer.add_tensor(name, tensor)

    def open(path):
        import ztensor

        return ztensor.Reader(str(path))

    def names(file):
        return file.get_tensor_names()

    def get(file, name):
        return file.read_tensor(name)


class New:
    """ztensor 2."""

    def write(tensors, path):
        from ztensor.numpy import save_file

        # A file of its canonical form has small tensors every 64 KiB.
        is_small = next(iter(tensors.values())).nbytes < 4096
        save_file(tensors, path, align=4096 if is_small else None)

    def open(path):
        import ztensor

        return ztensor.open(str(path))

    def names(file):
        return file.keys()

    def get(file, name):
        return np.from_dlpack(file[name])

    def verify(path):
        import ztensor

        ztensor.verify(str(path), deep=True)


class SafeTensors:
    def write(tensors, path):
        from safetensors.numpy import save_file

        save_file(tensors, path)

    def open(path):
        from safetensors import safe_open

        return safe_open(path, framework="np")

    def names(file):
        return file.keys()

    def get(file, name):
        return file.get_tensor(name)


class Npy:
    """A folder of .npy files, each mapped."""

    def write(tensors, path):
        path.mkdir()
        for name, tensor in tensors.items():
            np.save(path / f"{name}.npy", tensor)

    def open(path):
        return {it.stem: np.load(it, mmap_mode="r") for it in sorted(path.iterdir())}

    def names(file):
        return list(file)

    def get(file, name):
        return file[name]


LIBRARIES = {"ztensor 0.1": Old, "ztensor 2": New, "safetensors": SafeTensors, "npy": Npy}


@functools.cache
def elements(stem):
    """The tensors that a file is made of, in memory."""
    path = f"{stem}.safetensors"
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        held = np.fromfile(file, np.uint8)
    header.pop("__metadata__", None)

    def tensor(entry):
        start, end = entry["data_offsets"]
        return held[start:end].view(DTYPES[entry["dtype"]]).reshape(entry["shape"])

    return {name: tensor(entry) for name, entry in header.items()}


def fold(tensor):
    """The exclusive or of a tensor's words."""
    return int(np.bitwise_xor.reduce(np.asarray(tensor).reshape(-1).view(np.uint64)))


def timed(work):
    start = time.perf_counter()
    answer = work()
    return (time.perf_counter() - start) * 1e3, answer


class Worker:
    def __init__(self, library):
        self.library = library
        self.pool = ThreadPoolExecutor(os.cpu_count())
        # One file is kept open, with the names of its tensors.
        self.kept = (None, None, None)

    def opened(self, path):
        if self.kept[0] != path:
            file = self.library.open(path)
            self.kept = (path, file, self.library.names(file))
        return self.kept[1:]

    def write(self, path):
        tensors = elements(str(path.parent / path.name.split(".")[0]))
        path.unlink(missing_ok=True)

        def work():
            self.library.write(tensors, path)
            # A folder is only ever made, and not timed.
            if path.is_file():
                with open(path, "rb") as file:
                    os.fsync(file.fileno())
            return np.nan

        return timed(work)

    def read(self, path):
        file, names = self.opened(path)

        def work():
            tensors = (self.library.get(file, name) for name in names)
            folds = [self.pool.submit(fold, tensor) for tensor in tensors]
            return functools.reduce(int.__xor__, (it.result() for it in folds)) & (2**52 - 1)

        return timed(work)

    def open(self, path):
        milliseconds, file = timed(lambda: self.library.open(path))
        return milliseconds, len(self.library.names(file))

    def get(self, path):
        file, names = self.opened(path)
        name = names[-1]

        def work():
            for _ in range(GETS):
                tensor = self.library.get(file, name)
            return float(tensor.reshape(-1)[0])

        milliseconds, answer = timed(work)
        return milliseconds / GETS, answer

    def verify(self, path):
        return timed(lambda: self.library.verify(path) or np.nan)


def main(name):
    package = "numpy" if name == "npy" else name.split(" ")[0]
    worker = Worker(LIBRARIES[name])
    print(json.dumps({"version": version(package)}), flush=True)
    for line in sys.stdin:
        _, work, path = line.rstrip("\n").split(" ", 2)
        milliseconds, answer = getattr(worker, work)(Path(path))
        print(milliseconds, answer, flush=True)


main(sys.argv[1])
