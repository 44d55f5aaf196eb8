"""Compares zTensor files of tet with ztensor, safetensors and .npy: same tensors, by turns.

Each library works in a process of its own and writes its own files. Works that move many bytes are given as
a ratio to its limit, a bare loop over the same bytes in the process of tet, taken in the same rounds.
"""

import argparse
import json
import statistics
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from turns import Library, aligned, measured, span

# Which environment has the library; two of them go by one name.
LIBRARIES = {"ztensor 0.1": "old", "ztensor 2": "new", "safetensors": "new", "npy": "new"}
COLUMNS = ["tet", *LIBRARIES]


@dataclass(frozen=True)
class Work:
    """A work on one set of tensors."""

    title: str
    name: str
    tensors: str
    # Those who can do it.
    libraries: tuple
    # What of tet is the limit, if there is one.
    limit: str = ""


ALL = tuple(LIBRARIES)
NAMED = ALL[:3]
WORKS = [
    Work("write 1 GiB, synced", "write", "weights", NAMED, "limit-write"),
    Work("read 1 GiB, every byte", "read", "weights", ALL, "limit-read"),
    Work("verify 1 GiB", "verify", "weights", ("ztensor 2",), "limit-read"),
    Work("open 10,000 tensors", "open", "tensors-10000", NAMED),
    Work("open 100,000 tensors", "open", "tensors-100000", NAMED),
    Work("get the last of 100,000", "get", "tensors-100000", NAMED),
]


class Limit:
    """The limits, by the process of tet."""

    def __init__(self, tet):
        self.tet = tet

    def run(self, how, work, path):
        return self.tet.run(how, replace(work, name=work.limit), path)


def files(folder, tet, seeded, peers):
    """The file of each set of tensors for each library, made once by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for tensors in ("weights", "tensors-10000", "tensors-100000"):
        # What libraries read the elements from that they write.
        source = folder / f"{tensors}.safetensors"
        if not source.exists():
            options = ["--no-sync", "-q"]
            subprocess.run([tet, "convert", seeded[tensors], source, *options], check=True)
        found[tensors] = {"tet": seeded[tensors]}
        for name in ALL if tensors == "weights" else NAMED:
            path = folder / f"{tensors}.by-{name.replace(' ', '-')}"
            if not path.exists():
                print(f"making {path.name}", flush=True)
                make = Work(f"make {path.name}", "write", tensors, (name,))
                peers[name].run("time", make, path)
            found[tensors][name] = path
    return found


def paths_of(work, folder, found):
    """Which file each peer works on."""
    paths = {name: found[work.tensors][name] for name in ("tet", *work.libraries)}
    if work.name == "write":
        # Over and over, and none of those that are read.
        paths = {name: folder / f"{work.tensors}.written" for name in paths}
        paths["limit"] = folder / f"{work.tensors}.plain"
    elif work.limit:
        paths["limit"] = paths["tet"]
    return paths


def compared(cells, times):
    """The cells, with the ratio to the limit, or how many times as long as ours each takes."""
    limit = times.pop("limit", None)
    cells.pop("limit", None)
    for name, figures in times.items():
        base = limit or times["tet"]
        if len(figures) == len(base):
            times_ours = statistics.median(a / b for a, b in zip(figures, base))
        else:
            times_ours = statistics.median(figures) / statistics.median(base)
        if limit:
            cells[name]["of_limit"] = 1 / times_ours
        elif name != "tet":
            cells[name]["ratio"] = times_ours
    return cells


def shown(cell):
    if cell is None:
        return "-"
    if "refused" in cell:
        return "refused"
    if "over" in cell:
        return f"> {span(cell['over'])}"
    ratio = f", {cell['of_limit']:.2f}" if "of_limit" in cell else ""
    ratio = f" ({cell['ratio']:.3g} x)" if "ratio" in cell else ratio
    return f"{span(cell['median'])}{ratio}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ["folder", "tet", "bench", "old", "new", "out"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()

    folder = Path(options.folder)
    worker = str(Path(__file__).parent / "weights_worker.py")
    tet = Library([options.bench, "--peer", "weights"])
    interpreters = {"old": options.old, "new": options.new}
    peers = {"limit": Limit(tet), "tet": tet}
    for name, where in LIBRARIES.items():
        peers[name] = Library([interpreters[where], worker, name])
    found = files(folder, options.tet, tet.hello, peers)
    rows = []
    for work in WORKS:
        print(work.title, flush=True)
        paths = paths_of(work, folder, found)
        cells = compared(*measured(work, paths, peers, options.rounds))
        rows.append({"work": work.title, "limit": work.limit, "cells": cells})
    versions = {name: peers[name].hello["version"] for name in LIBRARIES}
    for name in ["tet", *LIBRARIES]:
        peers[name].stop()
    for path in folder.glob("*.written"), folder.glob("*.plain"):
        for left in path:
            left.unlink()
    report = {
        "schema": "tet.weights/1",
        "machine": tet.hello["machine"],
        "versions": versions,
        "rounds": options.rounds,
        "rows": rows,
    }
    Path(options.out).write_text(json.dumps(report, indent=2))
    lines = [[row["work"], *(shown(row["cells"].get(name)) for name in COLUMNS)] for row in rows]
    print(aligned([["work", *COLUMNS], *lines]))
    print(options.out)


main()
