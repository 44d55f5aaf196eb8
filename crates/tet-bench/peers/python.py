"""Compares the Python package tetfile with the engine that it calls and with other packages, on the same array.

All packages run in this process, one after the other in every round; the engine runs in a process of its own, through
its public Rust interface. A figure is the shortest time of all rounds, because other times have other programs in them.
The page cache is warm.
"""

import argparse
import json
import shutil
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import dask
import h5py
import netCDF4
import numpy as np
import safetensors
import safetensors.numpy
import tetfile
import xarray
import zarr

from turns import Library, span

SHAPE, CHUNKS = (128, 512, 1024), (8, 256, 256)
AT = (70, 300, 500)
BOX = (slice(10, 110), slice(200, 300), slice(450, 550))
SERIES = (slice(None), 300, 500)
MANY = 10_000
# Seconds that a round of a short work lasts.
ROUND = 0.02


class Reported:
    """A time that the engine measured itself."""

    def __init__(self, milliseconds):
        self.milliseconds = milliseconds


# Columns of the tables: a heading, and what is measured.
RAW = {
    "tetfile": "tetfile, raw",
    "engine": "engine, raw",
    "NumPy": "numpy",
    "safetensors": "safetensors",
    "h5py": "h5py",
    "netCDF4": "netCDF4",
    "zarr": "zarr, raw",
    "zarr, zarrs": "zarr with zarrs, raw",
}
ZSTD = {
    "tetfile": "tetfile, zstd",
    "engine": "engine, zstd",
    "zarr": "zarr, zstd",
    "zarr, zarrs": "zarr with zarrs, zstd",
}
FORMATS = {
    ".tet": "tetfile, raw",
    ".h5": "tetfile, h5",
    ".nc": "tetfile, nc",
    ".npy": "tetfile, npy",
    ".safetensors": "tetfile, safetensors",
    ".zarr": "tetfile, zarr",
}


class Work:
    """A work, and how it is done with an array that is indexed as NumPy's."""

    def __init__(self, name, title, of_array=None):
        self.name, self.title, self.of_array = name, title, of_array


WORKS = [
    Work("open", "open"),
    Work("open-element", "open, one element"),
    Work("element", "one element", lambda x: x[AT]),
    Work("box", "box 100 x 100 x 100", lambda x: x[BOX]),
    Work("slab", "slab [17]", lambda x: x[17]),
    Work("series", "series [:, i, j]", lambda x: x[SERIES]),
    Work("read", "all, into new memory", lambda x: x[...]),
    Work("read-into", "all, into memory that exists"),
    Work("sum", "sum", lambda x: np.sum(x[...])),
    Work("mean-0", "mean along [0]", lambda x: np.mean(x[...], axis=0)),
    Work("mean-12", "mean along [1, 2]", lambda x: np.mean(x[...], axis=(1, 2))),
    Work("threads", "all, by 8 threads", lambda x: threaded(x)),
    Work("dask", "xarray and dask: mean of all"),
    Work("many-open", "open 10,000 datasets"),
    Work("many", "open 10,000 datasets, list them"),
]


def threaded(x):
    """Eight threads that read an eighth each."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: x[16 * at : 16 * at + 16], range(8)))


def files(folder):
    """The array in every format, and 10,000 small ones, written once."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "done"
    if done.exists():
        return
    random = np.random.default_rng(7)
    x = np.round(random.normal(size=SHAPE), 2).astype("f4")
    np.save(folder / "x.npy", x)
    for name, how in {"raw.tet": {"codec": "raw"}, "zstd.tet": {"codec": "zstd"}}.items():
        tetfile.convert(folder / "x.npy", folder / name, chunks=CHUNKS, overwrite=True, **how)
    with h5py.File(folder / "x.h5", "w") as out:
        out.create_dataset("x", data=x, chunks=CHUNKS)
    with netCDF4.Dataset(folder / "x.nc", "w") as out:
        for dim, extent in zip("abc", SHAPE):
            out.createDimension(dim, extent)
        out.createVariable("x", "f4", tuple("abc"), chunksizes=CHUNKS)[...] = x
    for name, codecs in {"raw.zarr": None, "zstd.zarr": zarr.codecs.ZstdCodec(level=3)}.items():
        shutil.rmtree(folder / name, ignore_errors=True)
        group = zarr.open_group(folder / name, mode="w")
        how = {"chunks": CHUNKS, "compressors": codecs, "dimension_names": tuple("abc")}
        group.create_array("x", shape=SHAPE, dtype="f4", **how)[...] = x
    with warnings.catch_warnings(action="ignore"):
        for name in ("raw.zarr", "zstd.zarr"):
            zarr.consolidate_metadata(folder / name)
    safetensors.numpy.save_file({"x": x}, folder / "x.safetensors")
    many = {f"layer.{number}.weight": np.full(8, number, "f4") for number in range(MANY)}
    safetensors.numpy.save_file(many, folder / "many.safetensors")
    with h5py.File(folder / "many.h5", "w") as out:
        for name, array in many.items():
            out[name] = array
    tetfile.convert(folder / "many.safetensors", folder / "many.tet", overwrite=True)
    done.touch()


def of_tetfile(path):
    f = tetfile.open(path)
    d = f["x"]
    out = np.empty(SHAPE, "f4")
    works = {work.name: (lambda of=work.of_array: of(d)) for work in WORKS if work.of_array}
    return works | {
        "open": lambda: tetfile.open(path),
        "open-element": lambda: tetfile.open(path)["x"][AT],
        "element": lambda: f["x"][AT],
        "read-into": lambda: d.read_into(out),
        "sum": d.sum,
        "mean-0": lambda: d.mean(0),
        "mean-12": lambda: d.mean((1, 2)),
        "dask": dask_mean(path, engine="tet"),
    }


def dask_mean(path, **how):
    opened = []

    def mean():
        if not opened:
            opened.append(xarray.open_dataset(path, chunks={}, **how)["x"])
        return opened[0].mean().compute()

    return mean


def of_engine(engine, path):
    def timed(name):
        return lambda: Reported(engine.run("time", Work(name, name), path)[0])

    names = [work.name for work in WORKS if work.name not in ("dask", "many", "many-open", "threads")]
    return {name: timed(name) for name in names}


def of_numpy(folder):
    path = folder / "x.npy"
    x = np.load(path, mmap_mode="r")
    out = np.empty(SHAPE, "f4")
    copied = {name: (lambda of=of: np.array(of(x))) for name, of in plain().items()}
    return copied | {
        "open": lambda: np.load(path, mmap_mode="r"),
        "open-element": lambda: np.load(path, mmap_mode="r")[AT],
        "element": lambda: x[AT],
        "read-into": lambda: np.copyto(out, x),
        "sum": lambda: np.sum(x),
        "mean-0": lambda: np.mean(x, axis=0),
        "mean-12": lambda: np.mean(x, axis=(1, 2)),
    }


def plain():
    return {work.name: work.of_array for work in WORKS if work.of_array and work.name != "threads"}


def of_h5py(folder):
    path = folder / "x.h5"
    x = h5py.File(path)["x"]
    out = np.empty(SHAPE, "f4")
    works = {work.name: (lambda of=work.of_array: of(x)) for work in WORKS if work.of_array}

    def opened(read):
        with h5py.File(path) as f:
            return read(f)

    return works | {
        "open": lambda: opened(lambda f: f),
        "open-element": lambda: opened(lambda f: f["x"][AT]),
        "read-into": lambda: x.read_direct(out),
        "many": lambda: many(h5py.File, folder / "many.h5"),
    }


def many(opener, path):
    with opener(path) as f:
        return list(f.keys())


def of_netcdf4(folder):
    path = folder / "x.nc"
    opened = netCDF4.Dataset(path)
    opened.set_auto_maskandscale(False)
    x = opened["x"]

    def once(read):
        with netCDF4.Dataset(path) as f:
            return read(f)

    works = {name: (lambda of=of: of(x)) for name, of in plain().items()}
    return works | {
        "open": lambda: once(lambda f: f),
        "open-element": lambda: once(lambda f: f["x"][AT]),
        "dask": dask_mean(path, engine="netcdf4"),
    }


def of_zarr(path):
    x = zarr.open_group(path, mode="r")["x"]
    works = {work.name: (lambda of=work.of_array: of(x)) for work in WORKS if work.of_array}
    return works | {
        "open": lambda: zarr.open_group(path, mode="r"),
        "open-element": lambda: zarr.open_group(path, mode="r")["x"][AT],
        "dask": dask_mean(path, engine="zarr"),
    }


def of_safetensors(folder):
    path = folder / "x.safetensors"
    opened = safetensors.safe_open(path, "numpy")
    x = opened.get_slice("x")
    parts = ("element", "box", "slab", "series")
    works = {name: (lambda of=of: of(x)) for name, of in plain().items() if name in parts}
    return works | {
        "open": lambda: safetensors.safe_open(path, "numpy"),
        "open-element": lambda: safetensors.safe_open(path, "numpy").get_slice("x")[AT],
        "read": lambda: opened.get_tensor("x"),
        "many": lambda: many(lambda path: safetensors.safe_open(path, "numpy"), folder / "many.safetensors"),
    }


def best(work, so_far):
    """The shortest time of one call in milliseconds, of a round."""
    begun, shortest = time.perf_counter(), so_far
    while True:
        start = time.perf_counter()
        reported = work()
        took = 1e3 * (time.perf_counter() - start)
        shortest = min(shortest, reported.milliseconds if isinstance(reported, Reported) else took)
        if time.perf_counter() - begun > ROUND:
            return shortest


def subjects(folder, engine):
    """What is measured, by column and by the file that it reads."""
    found = {}
    for codec in ("raw", "zstd"):
        path = folder / f"{codec}.tet"
        found[f"tetfile, {codec}"] = of_tetfile(path)
        found[f"engine, {codec}"] = of_engine(engine, path)
        found[f"zarr, {codec}"] = of_zarr(folder / f"{codec}.zarr")
    for file in ("x.h5", "x.nc", "x.npy", "x.safetensors", "raw.zarr"):
        found[f"tetfile, {file.split('.')[1]}"] = of_tetfile(folder / file)
    for name, suffix in {"raw": "tet", "h5": "h5", "safetensors": "safetensors"}.items():
        path = folder / f"many.{suffix}"
        found[f"tetfile, {name}"]["many-open"] = lambda path=path: tetfile.open(path).close()
        found[f"tetfile, {name}"]["many"] = lambda path=path: many(tetfile.open, path)
    for name in ("many-open", "many"):
        found["engine, raw"][name] = of_engine_many(engine, name, folder / "many.tet")
    found |= {"numpy": of_numpy(folder), "h5py": of_h5py(folder), "netCDF4": of_netcdf4(folder)}
    return found | {"safetensors": of_safetensors(folder)}


def of_engine_many(engine, name, path):
    return lambda: Reported(engine.run("time", Work(name, name), path)[0])


def with_zarrs(folder, rounds, works):
    """zarr with the codecs of the package zarrs, which it takes for all arrays."""
    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    found = {f"zarr with zarrs, {codec}": of_zarr(folder / f"{codec}.zarr") for codec in ("raw", "zstd")}
    return measured(found, rounds, works)


def measured(found, rounds, works):
    times = {}
    for work in works:
        known = {name: of[work.name] for name, of in found.items() if work.name in of}
        for function in known.values():
            function()
        shortest = dict.fromkeys(known, float("inf"))
        for _ in range(rounds):
            for name, function in known.items():
                shortest[name] = best(function, shortest[name])
        for name, milliseconds in shortest.items():
            times.setdefault(name, {})[work.name] = milliseconds
        print(work.title, {name: span(of) for name, of in shortest.items()}, file=sys.stderr, flush=True)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ["folder", "tet", "bench", "out"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--work", action="append")
    options = parser.parse_args()
    folder = Path(options.folder) / "python"
    files(folder)
    engine = Library([options.bench, "--peer", "reads"])
    works = [work for work in WORKS if not options.work or work.name in options.work]
    dask.config.set(scheduler="threads")
    times = measured(subjects(folder, engine), options.rounds, works)
    times |= with_zarrs(folder, options.rounds, works)
    engine.stop()
    packages = ["tetfile", "numpy", "zarr", "zarrs", "h5py", "netCDF4", "safetensors", "xarray", "dask"]
    found = {
        "machine": engine.hello["machine"],
        "rounds": options.rounds,
        "versions": {name: version(name) for name in packages} | {"python": sys.version.split()[0]},
        "works": {work.name: work.title for work in works},
        "times": times,
    }
    found["table"] = page(found)
    print(found["table"])
    Path(options.out).write_text(json.dumps(found, indent=1))


def page(found):
    """The figures as tables of Markdown."""
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    tables = [
        f"{versions}.",
        table(found, "raw chunks", RAW),
        table(found, "zstd chunks", ZSTD),
        table(found, "tetfile on files of", FORMATS),
    ]
    return "\n\n".join(tables)


def table(found, title, columns):
    """A row for each work; after the engine's time, what part of the time of tetfile it is."""
    lines = [[title, *columns], ["---"] * (len(columns) + 1)]
    for name, text in found["works"].items():
        times = {column: found["times"].get(of, {}).get(name) for column, of in columns.items()}
        if times[next(iter(columns))] is None:
            continue
        shown = {column: "-" if took is None else span(took) for column, took in times.items()}
        if times.get("engine"):
            shown["engine"] += f", {times['engine'] / times['tetfile']:.2f} x"
        lines.append([text, *shown.values()])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
