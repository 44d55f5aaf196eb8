"""Measures edits of a file of 1 GiB and the comparison of two files, each beside its limit or another program, in turn.

Each work is a command that is started anew and whose output is synced. The page cache is warm.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np

SHAPE = (1024, 512, 512)
MAPS = (1, 512, 512)
SERIES = (512, 16, 32)
# A hundredth of the rows is appended.
MORE = 10


def seconds(work):
    """The time of a work, which is called once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def synced(path):
    """Waits until a file is on the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())


class Edits:
    """The files, and what is done with them."""

    def __init__(self, tet, folder):
        self.tet, self.folder = tet, folder
        self.big, self.more, self.h5 = (folder / name for name in ("big.tet", "more.tet", "big.h5"))
        self.other, self.out = folder / "other.tet", folder / "out"
        source = folder / "big.npy"
        rows = np.lib.format.open_memmap(source, "w+", np.float32, SHAPE)
        random = np.random.default_rng(0)
        for row in rows:
            row[:] = random.standard_normal(row.shape, dtype=np.float32)
        raw = ["--name", "x", "--dims", "x=time,lat,lon", "--codec", "raw"]
        self.run("convert", source, self.big, *raw, "--chunks", "1,512,512")
        np.save(source.with_name("more.npy"), rows[:MORE])
        del rows
        self.run("convert", source.with_name("more.npy"), self.more, *raw, "--chunks", "1,512,512")
        self.run("convert", self.big, self.h5, "--chunks", "1,512,512")
        source.unlink()
        shutil.copy(self.big, self.other)

    def run(self, *words):
        subprocess.run([self.tet, *map(str, words), "-q"], check=True, stdout=subprocess.DEVNULL)

    def new(self, suffix):
        """A path where nothing is."""
        path = self.out.with_suffix(suffix)
        path.unlink(missing_ok=True)
        return path

    def copy(self):
        path = self.new(".tet")
        subprocess.run(["cp", self.big, path], check=True)
        synced(path)

    def append(self):
        self.run("edit", "append", self.big, self.more, "--axis", "time", "-o", self.new(".tet"))

    def repack(self):
        chunks = ",".join(f"{name}:{extent}" for name, extent in zip(("time", "lat", "lon"), SERIES, strict=True))
        self.run("edit", "repack", self.big, "--chunks", chunks, "-o", self.new(".tet"))

    def repack_h5repack(self):
        path = self.new(".h5")
        layout = "x:CHUNK=" + "x".join(map(str, SERIES))
        subprocess.run(["h5repack", "-l", layout, self.h5, path], check=True)
        synced(path)

    def repack_h5py(self):
        path = self.new(".h5")
        with h5py.File(self.h5) as source, h5py.File(path, "w") as file:
            file.create_dataset("x", data=source["x"][...], chunks=SERIES)
        synced(path)

    def scans(self):
        for path in (self.big, self.other):
            self.run("query", path, "x", "--sum", "--digests", "always")

    def diff(self):
        self.run("diff", self.big, self.other, "--digests", "always")

    def diff_digests(self):
        self.run("diff", self.big, self.other)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("folder", "tet", "bench", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = options.folder / "edits"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    edits = Edits(options.tet, folder)
    pairs = [
        ("append 1 %, beside a copy of the file", edits.append, edits.copy),
        ("maps to series, beside h5py in memory", edits.repack, edits.repack_h5py),
        ("diff of equal files, beside two sums", edits.diff, edits.scans),
        ("diff by digests, beside two sums", edits.diff_digests, edits.scans),
    ]
    if shutil.which("h5repack"):
        pairs.insert(2, ("maps to series, beside h5repack", edits.repack, edits.repack_h5repack))
    else:
        print("h5repack is not there, and not compared with", file=sys.stderr)
    rows = []
    print("| work | tet | beside it | ratio |\n|---|---|---|---|")
    for title, ours, theirs in pairs:
        times = [(seconds(ours), seconds(theirs)) for _ in range(options.rounds)]
        [one, other] = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(theirs / ours for ours, theirs in times)
        rows.append({"work": title, "tet": one, "beside": other, "ratio": ratio})
        print(f"| {title} | {one:.2f} s | {other:.2f} s | {ratio:.2f} |", flush=True)
    options.out.write_text(json.dumps(rows, indent=1))
    shutil.rmtree(folder)


main()
