"""Compares tet with h5py, netCDF4 and zarr on the same files, in alternating rounds.

tet and the libraries run in processes that stay, and open the file anew for each work; the command is
started anew for each, so that its times have the start of a process in them. The page cache is warm.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from arrays_files import BOX, COLUMN, ELEMENT, LIBRARIES, files
from turns import PATIENCE, Library, Refused, aligned, measured, span


@dataclass(frozen=True)
class Work:
    """A work on one file of a family."""

    title: str
    name: str
    layout: str

    def words(self, path):
        """The arguments of the command for it."""
        raw = ["--format", "raw", "-o", "-"]
        return {
            "list": ["info", path, "--json"],
            "element": ["cat", path, "x", "-s", ",".join(map(str, ELEMENT)), *raw],
            "column": ["cat", path, "x", "-s", ",".join(COLUMN), *raw],
            "box": ["cat", path, "x", "-s", ",".join(BOX), *raw],
            "sum": ["query", path, "x", "--sum", "-q"],
            "mean-0": ["query", path, "x", "--mean", "0", "-q", "--format", "stats"],
            "mean-1": ["query", path, "x", "--mean", "1", "-q", "--format", "stats"],
            "mean-2": ["query", path, "x", "--mean", "2", "-q", "--format", "stats"],
        }[self.name]


def works(layouts):
    """What is done with the files of a family."""
    found = [
        Work("open and list 1 dataset", "list", "raw"),
        Work("open and list 10,000 datasets", "list", "many"),
    ]
    for layout in layouts:
        found += [Work(f"{name}, {layout}", name, layout) for name in ("element", "column", "box", "sum")]
    for axis in range(3):
        found += [Work(f"mean along [{axis}], {layout}", f"mean-{axis}", layout) for layout in ("raw", "deflate")]
    return found


class Program:
    """The command, started for every work."""

    def __init__(self, tet):
        self.tet = tet

    def run(self, how, work, path):
        start = time.perf_counter()
        command = [self.tet, *work.words(path)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        milliseconds = (time.perf_counter() - start) * 1e3
        if done.returncode != 0:
            raise Refused(done.stderr.decode().strip()[:200] or "it failed")
        return milliseconds, checked(work, done.stdout) if how == "check" else math.nan


def checked(work, printed):
    """The sum of an answer, as the libraries give it."""
    if work.name == "list":
        return len(json.loads(printed)["datasets"])
    if work.name in ("element", "column", "box"):
        return float(np.frombuffer(printed, "<f4").sum(dtype=np.float64))
    return float(printed) if work.name == "sum" else math.nan


def shown(cell):
    if cell is None:
        return "-"
    if "refused" in cell:
        return "refused"
    if "over" in cell:
        return f"> {span(cell['over'])}"
    times = f" ({cell['ratio']:.3g} x)" if "ratio" in cell else ""
    return span(cell["median"]) + times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ["folder", "tet", "out"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--family", choices=sorted(LIBRARIES), action="append")
    parser.add_argument("--bench", required=True)
    options = parser.parse_args()
    worker = [sys.executable, str(Path(__file__).parent / "arrays_worker.py")]
    tet = Library([options.bench, "--peer", "arrays"])
    rows = []
    for family in options.family or sorted(LIBRARIES):
        library = LIBRARIES[family]
        layouts = files(Path(options.folder), family)
        peers = {"tet": tet, "library": Library([*worker, family]), "command": Program(options.tet)}
        lines = [["work", "tet", library, "the command"]]
        for work in works([name for name in layouts if name != "many"]):
            paths = {name: str(layouts[work.layout]) for name in peers}
            cells, times = measured(work, paths, peers, options.rounds)
            if "tet" in times and "library" in times:
                ours, theirs = (statistics.median(times[name]) for name in ("tet", "library"))
                cells["library"]["ratio"] = theirs / ours
            rows.append({"work": f"{library}: {work.title}", "cells": cells})
            lines.append([work.title, *(shown(cells.get(name)) for name in peers)])
        peers["library"].stop()
        print(f"{family}, {library} {version(library)}", aligned(lines), sep="\n", end="\n\n", flush=True)
    tet.stop()
    report = {
        "schema": "tet.arrays/1",
        "machine": tet.hello["machine"],
        "versions": {name: version(name) for name in sorted(LIBRARIES.values())},
        "rounds": options.rounds,
        "rows": rows,
    }
    Path(options.out).write_text(json.dumps(report, indent=2))
    print(options.out)


if __name__ == "__main__":
    main()
