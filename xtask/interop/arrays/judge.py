"""Compares what `tet` reads with true values: python judge.py FAMILY FOLDER TET [options].

FOLDER/files has the files, FOLDER/truth what they contain (see truth.py). Every dataset of numbers must
be read bit for bit, whole and by boxes, every text must be the same, or be refused with a message that expected.py lists. Prints
a table and writes FOLDER/judged.json; the exit code is 1 if anything is wrong.
"""

import argparse
import collections
import concurrent.futures
import csv
import fnmatch
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import zlib

import numpy as np

import expected
import mutate

PATIENCE = 120
# Files of more datasets are converted at once, without boxes.
BY_ONE_MAX = 80
VERDICTS = ["equal", "refused", "WRONG", "missing", "unexplained"]
FAILURES = {"WRONG", "missing", "unexplained", "verify", "place", "attribute", "axes", "listed", "decoded"}


class Tet:
    """The command."""

    def __init__(self, path):
        self.path = path
        help_text = self.run("cat", "--help").stdout.decode()
        self.has_decoded = "--raw-values" in help_text

    def run(self, *words):
        command = [self.path, *map(str, words)]
        return subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)


def message(done, path):
    """What a command printed as an error, without the name of the file."""
    text = done.stderr.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        text = json.loads(text)["message"]
    text = " ".join(text.split()).replace(str(path), "FILE")
    return text or f"exit status {done.returncode} without a message"


class Judge:
    """Verdicts about one file."""

    def __init__(self, tet, family, path, document, truth_folder):
        self.tet, self.family, self.path = tet, family, path
        self.document, self.folder = document, truth_folder / document["file"]
        self.found, self.places, self.boxes, self.decoded = [], [0, 0], 0, 0
        self.texts = 0

    def note(self, dataset, verdict, text=""):
        self.found.append([self.document["file"], dataset, verdict, text[:400]])

    def refused(self, dataset, text):
        why = expected.reason(self.family, self.document["file"], dataset["name"], text)
        verdict = "refused" if why else "unexplained"
        self.note(dataset["name"], verdict, f"{text} ({why})" if why else text)

    def run(self):
        numbers = [it for it in self.document["datasets"] if it["kind"] == "numbers" and not it.get("is_part")]
        done = self.tet.run("info", "--json", "--chunks", "-m", "-n", 0, self.path)
        if done.returncode != 0 and not done.stdout:
            for dataset in numbers:
                self.refused(dataset, message(done, self.path))
            return self
        listing = json.loads(done.stdout)
        listed = {entry["name"]: entry for entry in listing["datasets"]}
        self.names = set(listed)
        self.all_at_once = self.converted(len(listed))
        known = set()
        for dataset in self.document["datasets"]:
            if dataset.get("is_part"):
                self.part(dataset)
                continue
            names = [dataset["name"], *dataset.get("aliases", [])]
            name = next((it for it in names if it in listed), None)
            if dataset["name"] == "*" and len(listed) == 1:
                name = next(iter(listed))
            known.update(names)
            known.add(name)
            if dataset["kind"] != "numbers":
                self.other(dataset, listed.get(name))
            elif name is None:
                self.note(dataset["name"], "missing", "not in the listing")
            else:
                self.numbers(dataset, listed[name])
        for name in sorted(set(listed) - known):
            self.note(name, "listed", "is listed, and not in the file")
        self.verify()
        return self

    def converted(self, count):
        """Every dataset of a file with many, by one conversion."""
        if count <= BY_ONE_MAX:
            return {}
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "all.npz"
            done = self.tet.run("convert", self.path, out, "-q", "--no-sync")
            return dict(np.load(out)) if done.returncode == 0 else {}

    def part(self, dataset):
        """A member of structures: the values that are found by its name."""
        if dataset["kind"] == "text":
            return self.text(dataset, dataset["name"])
        values = np.load(self.folder / dataset["values"])
        done = self.tet.run("cat", "--raw-values", "--format", "raw", "-o", "-", "--", self.path, dataset["name"])
        if done.returncode != 0:
            return self.refused(dataset, message(done, self.path))
        if done.stdout != values.tobytes():
            return self.note(dataset["name"], "WRONG", difference(done.stdout, values))
        if self.box(dataset["name"], dataset["name"], values):
            self.note(dataset["name"], "equal")
        return None

    def text(self, dataset, place):
        """Every text, by way of CSV."""
        done = self.tet.run("cat", "--raw-values", "--format", "csv", "--", self.path, place)
        if done.returncode != 0:
            return self.refused(dataset, message(done, self.path))
        lines = csv.reader(io.StringIO(done.stdout.decode(), newline=""))
        found = [text for line in lines for text in (line or [""])]
        self.texts += len(found)
        if found == dataset["texts"]:
            return self.note(dataset["name"], "equal")
        pairs = zip(found, dataset["texts"])
        odd = next((f"{one!r}, not {other!r}" for one, other in pairs if one != other), "")
        text = f"{len(found)} texts, not {len(dataset['texts'])}: {odd}"
        return self.note(dataset["name"], "WRONG", text)

    def other(self, dataset, entry):
        """Text and structures: listed, and no number is read from them."""
        if entry is None:
            if dataset["dtype"] != "null":
                self.note(dataset["name"], "unlisted", "not in the listing")
            return
        if dataset["kind"] != "text" or "texts" not in dataset:
            return
        told = (entry["dtype"], list(entry["shape"]))
        if not entry.get("readable", True):
            self.refused(dataset, entry.get("why") or "not readable, without a reason")
        elif told != ("string", dataset["shape"]):
            self.note(dataset["name"], "WRONG", f"is {told}, not string {dataset['shape']}")
        else:
            self.text(dataset, f"#{entry['index']}")

    def numbers(self, dataset, entry):
        name = dataset["name"]
        if not entry.get("readable", True):
            return self.refused(dataset, entry.get("why") or "not readable, without a reason")
        values = np.load(self.folder / dataset["values"])
        told = (entry["dtype"], list(entry["shape"]))
        if told[1] == dataset.get("stored_shape"):
            # The part of a variable that was written; the rest of it is the fill value.
            values = np.ascontiguousarray(values[tuple(map(slice, told[1]))])
            dataset = {**dataset, "shape": told[1]}
        if told != (dataset["dtype"], dataset["shape"]):
            return self.note(name, "WRONG", f"is {told}, not {(dataset['dtype'], dataset['shape'])}")
        place = f"#{entry['index']}"
        # A name wins over a position.
        place = entry["name"] if place in self.names else place
        if entry["name"] in self.all_at_once:
            stored = self.all_at_once[entry["name"]].tobytes()
        else:
            done = self.tet.run("cat", "--raw-values", "--format", "raw", "-o", "-", "--", self.path, place)
            if done.returncode != 0:
                return self.refused(dataset, message(done, self.path))
            stored = done.stdout
        if stored != values.tobytes():
            return self.note(name, "WRONG", difference(stored, values))
        if not self.all_at_once and not self.box(name, place, values):
            return None
        self.note(name, "equal")
        self.compare_places(dataset, entry)
        self.compare_words(dataset, entry)
        if dataset.get("decoded") and self.tet.has_decoded:
            self.compare_decoded(dataset, place)
        return None

    def box(self, name, place, values):
        """Two boxes, chosen by the name."""
        rng = np.random.default_rng(zlib.crc32(f"{self.document['file']}/{name}".encode()))
        for _ in range(2 if values.size > 1 else 0):
            cut = [sorted(rng.integers(0, extent + 1, 2).tolist()) for extent in values.shape]
            steps = rng.integers(1, 4, values.ndim).tolist()
            parts = [slice(*ends, step) for ends, step in zip(cut, steps)]
            text = ",".join(f"{it.start}:{it.stop}:{it.step}" for it in parts)
            done = self.tet.run("cat", "--raw-values", "-s", text, "--format", "raw", "-o", "-", "--", self.path, place)
            self.boxes += 1
            if done.returncode != 0:
                self.note(name, "WRONG", f"[{text}] fails: {message(done, self.path)}")
                return False
            wanted = values[tuple(parts)]
            if done.stdout != wanted.tobytes():
                self.note(name, "WRONG", f"[{text}]: {difference(done.stdout, wanted)}")
                return False
        return True

    def compare_places(self, dataset, entry):
        """Offsets and lengths of chunks, where libhdf5's are right."""
        if dataset.get("places_wrong") or "chunks" not in entry:
            return
        stored = {tuple(it["coord"]): it for it in entry["chunks"] if it.get("stored_len")}
        if "offset" in dataset and dataset["offset"] is not None and dataset["shape"].count(0) == 0:
            offsets = [it["offset"] for it in stored.values()]
            self.place(dataset, offsets == [dataset["offset"]], f"{offsets}, not {dataset['offset']}")
        elif "chunks" in dataset:
            found = {coord: (it["offset"], it["stored_len"]) for coord, it in stored.items()}
            wanted = {tuple(coord): (offset, size) for coord, offset, size, _ in dataset["chunks"]}
            odd = [it for it in {**found, **wanted} if found.get(it) != wanted.get(it)]
            text = f"chunk {odd[0]}: {found.get(odd[0])}, not {wanted.get(odd[0])}" if odd else ""
            self.place(dataset, not odd, text)

    def place(self, dataset, is_right, text):
        self.places[0 if is_right else 1] += 1
        if not is_right:
            self.note(dataset["name"], "place", text)

    def compare_words(self, dataset, entry):
        """Names of axes and plain attributes."""
        dims, wanted = entry.get("dims") or [], dataset.get("dims")
        is_same = all(one == other for one, other in zip(dims, wanted or []) if other is not None)
        if wanted and (len(dims) != len(wanted) or not is_same):
            self.note(dataset["name"], "axes", f"{dims}, not {wanted}")
        attrs = entry.get("attrs") or {}
        for key, value in (dataset.get("attrs") or {}).items():
            found = attrs.get(key)
            if key not in attrs:
                self.note(dataset["name"], "no attribute", key)
            elif found != value and not is_close(found, value):
                self.note(dataset["name"], "attribute", f"{key} is {found!r}, not {value!r}")

    def compare_decoded(self, dataset, place):
        wanted = np.load(self.folder / dataset["decoded"])
        done = self.tet.run("cat", "--format", "npy", "-o", "-", "--", self.path, place)
        self.decoded += 1
        if done.returncode != 0:
            return self.note(dataset["name"], "decoded", message(done, self.path))
        found = np.load(io.BytesIO(done.stdout))
        if found.dtype != wanted.dtype:
            return self.note(dataset["name"], "decoded", f"{found.dtype}, not {wanted.dtype}")
        if same_nan(found).tobytes() != same_nan(wanted).tobytes():
            return self.note(dataset["name"], "decoded", difference(found.tobytes(), wanted))
        return None

    def verify(self):
        done = self.tet.run("verify", self.path)
        if done.returncode != 0:
            text = (done.stdout + done.stderr).decode("utf-8", "replace")
            self.note("", "verify", f"exit status {done.returncode}: {' '.join(text.split())}")


def same_nan(values):
    """One NaN for all: their bits are no part of the truth."""
    return np.where(np.isnan(values), values.dtype.type(np.nan), values) if values.dtype.kind == "f" else values


def is_close(found, wanted):
    """Numbers of float32 may be printed with as few digits as they need."""
    try:
        one, other = np.asarray(found, float).ravel(), np.asarray(wanted, float).ravel()
    except (TypeError, ValueError):
        return False
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-6, atol=0)


def difference(stored, values):
    """How the bytes of a dataset differ from the true values."""
    if len(stored) != values.nbytes:
        return f"{len(stored)} bytes, not {values.nbytes}"
    found = np.frombuffer(stored, values.dtype)
    size = values.dtype.itemsize
    odd = (np.frombuffer(stored, f"V{size}") != values.ravel().view(f"V{size}")).nonzero()[0]
    at = tuple(map(int, np.unravel_index(odd[0], values.shape)))
    return f"{len(odd)} of {values.size} elements differ, first {at}: {found[odd[0]]}, not {values.ravel()[odd[0]]}"


def judged(tet, family, folder, pattern):
    """Every file of a family; verdicts and counts."""
    documents = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob("*.json")) if path.is_file()]
    documents = [it for it in documents if fnmatch.fnmatch(it["file"], pattern)]

    def one(document):
        judge = Judge(tet, family, folder / "files" / document["file"], document, folder / "truth")
        try:
            return judge.run()
        except subprocess.TimeoutExpired:
            judge.note("", "WRONG", f"takes more than {PATIENCE} seconds")
        except (KeyError, ValueError) as error:
            judge.note("", "WRONG", f"what is printed is not understood: {error!r}")
        return judge

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, documents))


def show(family, judges):
    """Prints the table of a family and what is to be looked at; whether all is well."""
    verdicts = [verdict for judge in judges for _, _, verdict, _ in judge.found]
    counts = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    numbers = sum(counts.values())
    print(f"{family}: {len(judges)} files, {numbers} datasets of numbers and text")
    print("  " + "  ".join(f"{verdict} {count}" for verdict, count in counts.items()))
    right, wrong = (sum(judge.places[at] for judge in judges) for at in (0, 1))
    boxes, decoded = sum(judge.boxes for judge in judges), sum(judge.decoded for judge in judges)
    others = {it: verdicts.count(it) for it in sorted(set(verdicts) - set(VERDICTS))}
    print(f"  boxes {boxes}  places equal {right}, different {wrong}  decoded compared {decoded}")
    print(f"  texts compared {sum(judge.texts for judge in judges)}  {others}")
    lines = collections.Counter()
    for judge in judges:
        for file, dataset, verdict, text in judge.found:
            if verdict != "equal":
                is_many = verdict in ("refused", "unexplained", "missing", "listed", "unlisted")
                shown = text.replace(json.dumps(dataset), "DATASET") if is_many else f"{dataset}: {text}"
                lines[verdict, file, shown] += 1
    for (verdict, file, text), count in sorted(lines.items()):
        print(f"  {verdict:12} {file}  {count} x  {text}" if count > 1 else f"  {verdict:12} {file}  {text}")
    return not FAILURES.intersection(verdicts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("tet")
    parser.add_argument("--only", default="*", help="files to judge, as a pattern")
    parser.add_argument("--mutations", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    judges = judged(Tet(options.tet), options.family, options.folder, options.only)
    is_well = show(options.family, judges)
    found = [line for judge in judges for line in judge.found]
    (options.folder / "judged.json").write_text(json.dumps(found, indent=0))
    if options.mutations:
        is_well &= mutate.report(options.tet, options.folder, options.mutations, options.seed)
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
