"""Random selections by every command that selects: python selected.py FOLDER TET [--seed N] [--count N].

The selections are those of `crates/tet-python/tests/selections.py`: axes of numbers, texts, times in all calendars and packed
coordinates, up and down and in no order, labels that are repeated, longitudes around the globe. `cat`, `query`, `stats`,
`convert`, `diff` and what `query -o` writes are compared with what xarray selects: elements, labels, coordinates that become
scalar. Tables, JSON, archives of NumPy and documents are compared by `selected_texts.py`. `plot` prints no numbers. Exit code 1 if anything differs.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import warnings

import numpy as np
import xarray

TESTS = pathlib.Path(__file__).resolve().parents[3] / "crates/tet-python/tests"
sys.path.insert(0, str(TESTS))
import selected_texts as texts  # noqa: E402
import selections  # noqa: E402

CONVERTED = ["h5", "zarr.zip", "tet", "tets", "zt", "tgm", "nc3"]
SUFFIXES = ["nc", "classic.nc", "v2.zarr", "v3.zarr", *CONVERTED]
OUTPUTS = ["nc", "nc3", "zarr"]
# A label of text that is selected alone is not written: of containers whose labels belong to the dataset, and to one that has no
# dataset of text (docs/limits.md, Conversion).
OWN_LABELS = ["tet", "tets", "zt", "tgm"]
NO_TEXTS = ["nc3"]
FAILURES = []
COUNTS = {}


def check(what, is_good, text):
    COUNTS[what] = COUNTS.get(what, 0) + 1
    if not is_good:
        FAILURES.append(what)
        print("DIFFERENT", what, text, flush=True)


class Files:
    """The files of a calendar, in all containers, and a copy in which some elements are others."""

    def __init__(self, program, folder, calendar, rng):
        self.program, self.folder, self.calendar = program, folder / calendar, calendar
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.stored, self.located = selections.world(calendar), selections.located(calendar)
        self.stored.to_netcdf(self.folder / "a.nc")
        self.stored.to_netcdf(self.folder / "a.classic.nc", format="NETCDF3_64BIT")
        for version in (2, 3):
            self.stored.to_zarr(self.folder / f"a.v{version}.zarr", zarr_format=version)
        for suffix in CONVERTED:
            self.run("convert", "a.nc", f"a.{suffix}")
        other, self.changed = self.stored.copy(deep=True), {}
        for name, variable in other.data_vars.items():
            at = rng.sample(range(variable.size), max(1, variable.size // 50))
            variable.values.reshape(-1)[at] += 1
            self.changed[name] = variable != self.stored[name]
        other.to_netcdf(self.folder / "other.nc")

    def run(self, *words):
        command = [self.program, *map(str, words)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, timeout=120, check=False)

    def opened(self, name):
        options = {"decode_times": False} | ({"consolidated": False} if name.endswith(".zarr") else {})
        return xarray.open_dataset(self.folder / name, **options)


def equal_labels(found, case, stored, suffix, output, skipped=()):
    """Whether the labels of the axes that stay, and the scalars of those that do not, are those that were selected."""
    for dim, labels in case.labels(stored).items():
        if dim in skipped:
            continue
        labels = np.asarray(labels)
        known = found[dim].values if dim in found.coords else None
        if known is not None and labels.dtype.kind in "UO":
            # Texts that are all numbers may be written as numbers.
            known, labels = np.array([*map(str, known.tolist())]), labels.astype(str)
        if known is None or not np.array_equal(known, labels):
            return f"labels of {dim}: {found.coords.get(dim)}, not {labels}"
    dropped = [dim for dim in selections.VARIABLES[case.name] if dim not in case.wanted.dims and dim in stored.coords]
    for dim in dropped:
        if (suffix in OWN_LABELS or output in NO_TEXTS) and stored[dim].dtype.kind in "UO":
            continue
        known = selections.labels("standard")[dim] if dim == "packed" else stored[dim].values
        label = known[int(case.wanted[f"{dim}_at"])]
        if dim not in found.coords or found[dim].values.tolist() != np.asarray(label).tolist():
            return f"scalar {dim}: {found.coords.get(dim)}, not {label}"
    return ""


def compare_texts(files, rng, case, source, options):
    """Tables and documents, as they are printed and as they are written."""
    target, wanted = f"{case.name}[{case.text}]", case.wanted
    what = f"{files.calendar} {source} {target}"

    def fault(name, words, of):
        done = files.run(*words, *options)
        text = done.stderr.decode()[:300] if done.returncode else of(done.stdout.decode())
        check(name, not text, f"{what} {words[2:]}: {text}")

    def tidy(name, delimiter):
        return lambda text: texts.tidy_fault(text, case, name, delimiter)

    kind, delimiter = rng.choice([("csv", ","), ("tsv", "\t")])
    of_tables = {
        "cat -o csv": (["cat", source, target, "-o", "-", "--to", kind, "--allow-empty"], tidy(case.name, delimiter)),
        "cat --format csv": (["cat", source, target, "--format", kind], tidy(case.name, delimiter)),
        "cat --layout wide": (
            ["cat", source, target, "-o", "-", "--to", "csv", "--allow-empty", "--layout", "wide"],
            lambda text: texts.wide_fault(text, case),
        ),
        "query -o csv": (
            ["query", source, case.name, "-s", case.text, "-o", "-", "--to", kind, "--allow-empty"],
            tidy(case.name, delimiter),
        ),
        "query --format table": (["query", source, case.name, "-s", case.text, "--format", "table"], tidy("values", "\t")),
    }
    if wanted.size <= texts.ROWS:
        for name in rng.sample(sorted(of_tables), 2):
            words, of = of_tables[name]
            fault(name, words, of)
        fault("cat --format json", ["cat", source, target, "--format", "json"], lambda text: texts.document_fault(text, case))
        document, asked = texts.question(rng, files.folder, case, {})
        fault("query document", ["query", source, asked, "--json", "--full"], lambda text: texts.answer_fault(text, case))
    words = ["explain", source, case.name, "-s", case.text, "--json"]
    fault("explain", words, lambda text: texts.sizes_fault(json.loads(text), case))
    document, asked = texts.question(rng, files.folder, case, {"max": []})
    done = files.run("query", source, asked, "-q", *options)
    known = done.stdout.decode().strip()
    known = known if done.returncode == 0 else done.stderr.decode()[:300]
    check("query document", known == (str(wanted.values.max()) if wanted.size else "null"), f"{what} {document}: {known}")

    files.run("cat", source, target, "-o", "o.npz", "-f", "--allow-empty", *options)
    text = texts.archive_fault(files.folder / "o.npz", case, files.stored)
    check("cat -o npz", not text, f"{what}: {text}")


def compare(files, rng, case, suffix):
    source, wanted, target = f"a.{suffix}", case.wanted, f"{case.name}[{case.text}]"
    what = f"{files.calendar} {source} {target}"
    options = ["--threads", rng.choice(["1", "2", "8"]), *rng.choice([[], ["--memory", "128MiB"]])]
    values, is_empty = wanted.values, wanted.size == 0

    done = files.run("cat", source, target, "-o", "o.npy", "-f", "--allow-empty", *options)
    found = np.load(files.folder / "o.npy") if done.returncode == 0 else None
    is_equal = found is not None and found.shape == values.shape and np.array_equal(found, values)
    check("cat", is_equal, f"{what}: {done.stderr.decode()[:300]}")
    if not is_equal:
        return

    compare_texts(files, rng, case, source, options)

    done = files.run("query", source, case.name, "-s", case.text, "--mean", "--json", *options)
    mean = json.loads(done.stdout)["result"]["values"] if done.returncode == 0 else done.stderr.decode()
    is_equal = mean is None if is_empty else not isinstance(mean, str) and np.isclose(mean, values.mean(), rtol=1e-12)
    check("query", is_equal, f"{what}: {mean}")

    done = files.run("stats", source, target, "--json", *options)
    summary = json.loads(done.stdout)["datasets"][0] if done.returncode == 0 else {}
    known = [summary.get(key) for key in ("count", "min", "max")]
    check("stats", known == [values.size, *([None] * 2 if is_empty else [values.min(), values.max()])], f"{what}: {known}")

    differ = files.changed[case.name].isel({dim: wanted[f"{dim}_at"].values for dim in selections.VARIABLES[case.name]})
    for other, count in [("a.nc", 0), ("other.nc", int(differ.sum()))]:
        done = files.run("diff", source, other, target, "--json", *options)
        document = json.loads(done.stdout) if done.stdout else {}
        known = [it["values"]["differing"] for it in document.get("datasets", []) if it.get("values")]
        check("diff", done.returncode == min(count, 1) and sum(known) == count, f"{what}: {known}, not {count} {done.stderr.decode()}")

    if is_empty:
        done = files.run("convert", source, "empty.nc", "-s", case.text, "-f")
        check("empty", done.returncode != 0 and not (files.folder / "empty.nc").exists(), what)
        return
    output = f"o.{rng.choice(OUTPUTS)}"
    done = files.run("convert", source, output, "-s", case.text, "--dataset", case.name, "-f", *options)
    text = done.stderr.decode()[:300]
    if done.returncode == 0:
        with files.opened(output) as found:
            text = equal_labels(found[case.name], case, files.stored, suffix, output[2:])
            if not np.array_equal(found[case.name].values, values):
                text = f"elements {text}"
    check("convert", done.returncode == 0 and not text, f"{what} to {output}: {text}")

    if wanted.dims:
        over = rng.choice(wanted.dims)
        done = files.run("query", source, case.name, "-s", case.text, "--max", over, "-o", output, "-f", *options)
        text = done.stderr.decode()[:300]
        if done.returncode == 0:
            with files.opened(output) as found:
                result = next(it for name, it in found.data_vars.items() if it.dims == wanted.max(over).dims and case.name in name)
                text = equal_labels(result, case, files.stored, suffix, output[2:], skipped=[over])
                if not np.array_equal(result.values, wanted.max(over).values):
                    text = f"elements {text}"
        check("query -o", done.returncode == 0 and not text, f"{what} --max {over} to {output}: {text}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("tet")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20, help="selections of each calendar")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for calendar in selections.CALENDARS:
        rng = random.Random(f"{args.seed} {calendar}")
        files = Files(pathlib.Path(args.tet).resolve(), args.folder, calendar, rng)
        for _ in range(args.count):
            compare(files, rng, selections.case(rng, files.located, calendar), rng.choice(SUFFIXES))
    print("compared", COUNTS, "different", len(FAILURES))
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    main()
