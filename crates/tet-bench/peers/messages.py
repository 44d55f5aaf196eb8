"""Compares Tensogram messages of tet with those of the wheel: same elements, by turns.

Each works in a process of its own, on one thread, from elements in memory to a message in memory and
back, each on messages it wrote itself; files are those that tet wrote. The number after the time is how many
times as long as tet it takes.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import NamedTuple

from turns import Library, aligned, measured, span

COLUMNS = ["tet", "tensogram"]


class Work(NamedTuple):
    """A work, and the file that it is done with."""

    title: str
    name: str
    file: str


CODECS = [
    ("none", "as it is", "singles"),
    ("lz4", "lz4", "singles"),
    ("zstd", "shuffled, zstd 3", "singles"),
    ("packed", "16 bits", "doubles"),
    ("packed-szip", "16 bits, szip", "doubles"),
]
WORKS = [
    Work(f"{verb} 64 MiB, {label}", f"{verb}-{name}", file)
    for name, label, file in CODECS
    for verb in ("encode", "decode")
] + [
    Work("the last of 5,000 objects", "find", "objects"),
    Work("metadata of 256 MiB", "metadata", "plain"),
]


def shown(cell):
    if "refused" in cell:
        return "refused"
    if "over" in cell:
        return f"> {span(cell['over'])}"
    ratio = f" ({cell['ratio']:.3g} x)" if "ratio" in cell else ""
    return f"{span(cell['median'])}{ratio}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ["folder", "tet", "bench", "python", "out"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()

    worker = str(Path(__file__).parent / "messages_worker.py")
    tet = Library([options.bench, "--peer", "messages"])
    peers = {"tet": tet, "tensogram": Library([options.python, worker])}
    rows = []
    for work in WORKS:
        print(work.title, flush=True)
        paths = dict.fromkeys(COLUMNS, tet.hello[work.file])
        cells, times = measured(work, paths, peers, options.rounds)
        if all(name in times for name in COLUMNS):
            ours, theirs = statistics.median(times["tet"]), statistics.median(times["tensogram"])
            cells["tensogram"]["ratio"] = theirs / ours
        rows.append({"work": work.title, "cells": cells})
    report = {
        "schema": "tet.messages/1",
        "machine": tet.hello["machine"],
        "versions": {"tensogram": peers["tensogram"].hello["version"]},
        "rounds": options.rounds,
        "rows": rows,
    }
    for peer in peers.values():
        peer.stop()
    Path(options.out).write_text(json.dumps(report, indent=2))
    lines = [[row["work"], *(shown(row["cells"][name]) for name in COLUMNS)] for row in rows]
    print(aligned([["work", *COLUMNS], *lines]))
    print(options.out)


main()
