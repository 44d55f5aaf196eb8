"""Compares tet with NumPy, h5py, zarr and the reference program: same array, same works, by turns.

Libraries run in processes that keep their files open, so only the work is timed; the two programs
are started anew for each work, so everything is. The page cache is warm. A work is run once for
its answer, which all must agree on, and then as many rounds as requested; what takes long stays at one.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

from files import layouts
from turns import PATIENCE, Library, Refused, aligned, measured, span
from works import WORKS

LIBRARIES = ["numpy", "h5py", "zarr"]
COLUMNS = ["tet", *LIBRARIES, "tet query", "reference"]


class Program:
    """A program that is started for every work."""

    def __init__(self, command):
        self.command = command

    def run(self, how, work, path):
        command = self.command(work, path)
        start = time.perf_counter()
        try:
            done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        milliseconds = (time.perf_counter() - start) * 1e3
        if done.returncode != 0:
            errors = done.stderr.decode().strip().splitlines()
            raise Refused(errors[0].removeprefix("error: ") if errors else "it failed")
        return milliseconds, math.nan


def ours(tet):
    """One value in full, or a report with a corner of them, which is what the reference prints."""
    few = ["--format", "stats", "--preview", "12"]
    return lambda work, path: [
        tet, "query", path, work.document, *(["-q"] if work.single else few)
    ]


def theirs(reference):
    return lambda work, path: [reference, "query", work.document, "-t", path, "-x", "-q"]


def compared(cells, times):
    """The cells, with how many times as long as ours each takes."""
    for name, cell in cells.items():
        base = "tet query" if name == "reference" else "tet"
        if name not in ("tet", "tet query") and base in times:
            cell.update(ratio(cell, times.get(name, []), times[base]))
    return cells


def ratio(cell, figures, base):
    """How many times as long as ours it takes: the median of the rounds."""
    if "refused" in cell:
        return {}
    if len(figures) == len(base):
        return {"ratio": statistics.median(a / b for a, b in zip(figures, base))}
    figure = cell.get("median", cell.get("over"))
    return {"ratio": figure / statistics.median(base)}


def shown(cell):
    if cell is None:
        return "-"
    if "refused" in cell:
        return "refused"
    times = f" ({cell['ratio']:.3g} x)" if "ratio" in cell else ""
    if "over" in cell:
        return f"> {span(cell['over'])}{times.replace('(', '(> ')}"
    return f"{span(cell['median'])}{times}"


def table(rows):
    lines = [["work", *COLUMNS]]
    lines += [[row["work"], *(shown(row["cells"].get(name)) for name in COLUMNS)] for row in rows]
    return aligned(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ["folder", "tet", "bench", "reference", "out"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()

    here = Path(__file__).parent
    tet = Library([options.bench, "--peer"])
    files = layouts(options.folder, options.tet, tet.hello)
    worker = [sys.executable, str(here / "worker.py")]
    peers = {"tet": tet, **{name: Library([*worker, name]) for name in LIBRARIES}}
    peers["tet query"] = Program(ours(options.tet))
    peers["reference"] = Program(theirs(options.reference))
    rows = []
    for work in WORKS:
        print(work.title, flush=True)
        paths = files[work.layout]
        # Both programs read the .tet file.
        paths = {**paths, "tet query": paths["tet"], "reference": paths["tet"]}
        cells = compared(*measured(work, paths, peers, options.rounds))
        rows.append({"work": work.title, "cells": cells})
    for name in ["tet", *LIBRARIES]:
        peers[name].stop()
    printed = subprocess.run([options.reference, "--version"], capture_output=True, check=True)
    versions = {name: version(name) for name in LIBRARIES}
    versions["reference"] = printed.stdout.decode().split()[-1]
    report = {
        "schema": "tet.peers/1",
        "machine": tet.hello["machine"],
        "versions": versions,
        "rounds": options.rounds,
        "rows": rows,
    }
    Path(options.out).write_text(json.dumps(report, indent=2))
    print(table(rows))
    print(options.out)


main()
