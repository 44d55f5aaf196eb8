"""Runs works on messages by the wheel in a process of its own, as `tet-bench --peer messages`.

Takes `check WORK PATH` or `time WORK PATH` a line, answers with milliseconds and a number that both
must agree on, or nan. `PATH` is of raw elements for works that encode and decode, else of a message.
"""

import functools
import json
import sys
import time
from importlib.metadata import version

import numpy as np
import tensogram

GETS = 20
ZSTD = {"compression": "zstd", "zstd_level": 3}
SZIP = {"compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}
SHUFFLE = {"filter": "shuffle", "shuffle_element_size": 4}


def timed(work):
    start = time.perf_counter()
    answer = work()
    return (time.perf_counter() - start) * 1e3, answer


@functools.cache
def elements(path, dtype):
    return np.fromfile(path, dtype)


def packing(path):
    values = elements(path, "float64")
    found = tensogram.compute_packing_params(values, 16, 0)
    return {"encoding": "simple_packing", **found}


def descriptor(how, path):
    """What is written, and the type of its elements."""
    dtype = "float64" if how.startswith("packed") else "float32"
    values = elements(path, dtype)
    stages = {"encoding": "none", "filter": "none", "compression": "none"}
    stages |= {
        "none": lambda: {},
        "lz4": lambda: {"compression": "lz4"},
        "zstd": lambda: ZSTD | SHUFFLE,
        "packed": lambda: packing(path),
        "packed-szip": lambda: packing(path) | SZIP,
    }[how]()
    fixed = {"type": "ntensor", "shape": list(values.shape), "dtype": dtype}
    return {**fixed, **stages}, values


@functools.cache
def encoded(how, path):
    return tensogram.encode({}, [descriptor(how, path)])


@functools.cache
def opened(path):
    return tensogram.TensogramFile.open(path)


def encode(how, path):
    """The parameters of packing are found within the measured time, as they are by tet."""

    def work():
        tensogram.encode({}, [descriptor(how, path)])
        return np.nan

    return timed(work)


def decode(how, path):
    message = encoded(how, path)
    milliseconds, array = timed(lambda: tensogram.decode_object(message, 0)[-1])
    return milliseconds, float(array.reshape(-1)[-1])


def find(path):
    file = opened(path)

    def work():
        for _ in range(GETS):
            found = file.file_decode_object(0, 4999)
        return float(np.asarray(found["data"]).reshape(-1)[0])

    milliseconds, answer = timed(work)
    return milliseconds / GETS, answer


def metadata(path):
    def work():
        tensogram.TensogramFile.open(path).file_decode_metadata(0)
        return np.nan

    return timed(work)


def run(work, path):
    verb, _, how = work.partition("-")
    if verb == "encode":
        return encode(how, path)
    if verb == "decode":
        return decode(how, path)
    return {"find": find, "metadata": metadata}[verb](path)


print(json.dumps({"version": version("tensogram")}), flush=True)
for line in sys.stdin:
    _, name, path = line.rstrip("\n").split(" ", 2)
    try:
        milliseconds, answer = run(name, path)
        print(milliseconds, answer, flush=True)
    except Exception as error:
        print(f"error: {error}", flush=True)
        sys.exit(1)
