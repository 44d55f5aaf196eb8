"""Files of the `tensogram` package, and files that it is to read.

python tgm_files.py write FOLDER SEED COUNT   writes so many files, each with its sheet
python tgm_files.py read FOLDER               reads every file of a folder, each against its sheet

Beside `X.tgm`, `X.json` says what its messages hold, and `X.bin` has the elements of all objects.
"""

import json
import pathlib
import sys

import numpy as np
import tensogram

import tgm_random

# Releases before 0.21 look for hashes in another place, and call those of later ones missing.
IS_OLD = not hasattr(tensogram, "HashMismatchError")
# What the validator may say of a sound message: it takes flags for promises that streams cannot keep.
KNOWN = {"flag_mismatch", "no_hash_available"}


def write(path, rng):
    """Writes a file of a few messages, and its sheet."""
    messages = [tgm_random.message(rng, IS_OLD) for _ in range(int(rng.integers(1, 16)))]
    path.write_bytes(b"".join(message for message, _, _ in messages))
    path.with_suffix(".json").write_text(json.dumps([sheet for _, sheet, _ in messages]))
    path.with_suffix(".bin").write_bytes(b"".join(content for _, _, content in messages))


def own(entry):
    """What a user says of an object."""
    return {key: value for key, value in entry.items() if key != "_reserved_"}


def read(path):
    """Compares a file with its sheet; returns how many objects it has."""
    content = path.read_bytes()
    sheets = json.loads(path.with_suffix(".json").read_text())
    elements, at, count = path.with_suffix(".bin").read_bytes(), 0, 0
    found = tensogram.scan(content)
    assert len(found) == len(sheets), (path, found)
    for (start, length), sheet in zip(found, sheets):
        piece = content[start : start + length]
        metadata, objects = tensogram.decode(piece)
        assert metadata.extra == sheet["extra"], (path, metadata.extra, sheet["extra"])
        entries = [own(entry) for entry in metadata.base]
        assert entries == sheet["base"], (path, entries, sheet["base"])
        assert len(objects) == len(sheet["objects"]), (path, len(objects))
        for wanted, (descriptor, values) in zip(sheet["objects"], objects):
            end = at + wanted["len"]
            told = (descriptor.dtype, list(descriptor.shape))
            assert told == (wanted["dtype"], wanted["shape"]), (path, told, wanted)
            is_same = np.ascontiguousarray(values).tobytes() == elements[at:end]
            assert is_same, f"{path}: {wanted} has other elements"
            at, count = end, count + 1
    assert at == len(elements), f"{path}: {len(elements) - at} bytes are left"
    if not IS_OLD:
        check(path)
    return count


def check(path):
    """Lets the validator look at all of a file."""
    report = tensogram.validate_file(str(path), level="full", check_canonical=True)
    assert report["file_issues"] == [], (path, report["file_issues"])
    for message in report["messages"]:
        issues = [issue for issue in message["issues"] if issue["code"] not in KNOWN]
        assert issues == [], (path, issues)


def main():
    """Does what the first argument says."""
    word, folder, *numbers = sys.argv[1:]
    folder = pathlib.Path(folder)
    if word == "write":
        seed, count = map(int, numbers)
        for number in range(count):
            write(folder / f"theirs-{number:03}.tgm", np.random.default_rng([seed, number]))
        return
    print(sum(read(path) for path in sorted(folder.glob("*.tgm"))), "objects")


main()
