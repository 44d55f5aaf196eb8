"""Damages files blindly and runs `tet` on them, under 512 MiB of address space and 5 seconds each.

Every run must end with a documented exit status, without a panic. What does not is kept in
FOLDER/mutants, with the command that shows it.
"""

import collections
import multiprocessing
import os
import pathlib
import random
import resource
import shutil
import subprocess
import tempfile

ADDRESS_SPACE = 512 << 20
SECONDS = 5
SIZE_MAX = 200_000
STATUSES = range(7)
EDGES = [0, 1, 2, 3, 7, 8, 0x7F, 0x80, 0xFE, 0xFF]
WIDE = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 8]


def mutated(chance, content):
    """One to eight changes of a file, more of them near its start."""
    content = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        if not content:
            break
        span = len(content) if chance.random() < 0.6 else min(len(content), 4096)
        at, kind = chance.randrange(span), chance.random()
        if kind < 0.35:
            content[at] = chance.randrange(256)
        elif kind < 0.55:
            content[at] = chance.choice(EDGES)
        elif kind < 0.7:
            content[at] ^= 1 << chance.randrange(8)
        elif kind < 0.85:
            size = chance.choice([2, 4, 8])
            number = chance.choice(WIDE) % (1 << 8 * size)
            content[at : at + size] = number.to_bytes(size, chance.choice(["little", "big"]))
        elif kind < 0.9:
            del content[chance.randrange(len(content)) :]
        elif kind < 0.95:
            source = chance.randrange(len(content))
            piece = content[source : source + chance.randrange(1, 64)]
            content[at : at + len(piece)] = piece
        else:
            del content[at : at + chance.randrange(1, 16)]
    return bytes(content)


def text_mutated(chance, content):
    """Changes of a JSON document: numbers and words are replaced."""
    words = ["-1", "0", "1e400", "18446744073709551616", "null", "[]", "{}", '"x"', "true", '"../../x"', "9" * 40]
    pieces = content.decode("utf-8", "replace")
    marks = [at for at, letter in enumerate(pieces) if letter in ":,[" and at + 1 < len(pieces)]
    for _ in range(chance.choice([1, 1, 2])):
        if not marks:
            break
        start = chance.choice(marks) + 1
        end = start
        while end < len(pieces) and pieces[end] not in ",]}":
            end += 1
        pieces = pieces[:start] + chance.choice(words) + pieces[end:]
        marks = [at for at in marks if at + 1 < len(pieces)]
    return pieces.encode()


def targets(folder):
    """Small files and stores, and the members of stores that may be damaged."""
    found = []
    for path in sorted((folder / "files").iterdir()):
        if path.is_dir():
            members = sorted(it for it in path.rglob("*") if it.is_file())
            if members and len(members) < 2000:
                found.append((path, members))
        elif path.stat().st_size <= SIZE_MAX:
            found.append((path, [path]))
    return found


def commands(chance, path):
    """The command to run on a damaged file."""
    out = f"{path}.npz"
    every = [
        ["info", "--json", "--chunks", "-m", path], ["verify", path], ["verify", "--deep", path],
        ["convert", path, out, "-f", "-q", "--no-sync"], ["stats", path],
        ["cat", path, f"#{chance.randrange(4)}"],
    ]
    return chance.choice(every)


def worker(number, tet, folder, count, seed):
    """Runs `count` mutations; returns exit statuses and what went wrong."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    chance, statuses, bad = random.Random(f"{seed}/{number}"), collections.Counter(), []
    every, copies = targets(folder), {}
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=base) as work:
        for step in range(count):
            source, members = chance.choice(every)
            member = chance.choice(members)
            if source.is_dir() and chance.random() < 0.7:
                named = [it for it in members if it.suffix == ".json" or it.name.startswith(".z")]
                member = chance.choice(named or members)
            path = pathlib.Path(work) / source.name
            if source.is_dir() and source not in copies:
                copies[source] = shutil.copytree(source, path)
            target = path / member.relative_to(source) if source.is_dir() else path
            content = member.read_bytes()
            is_text = member.suffix == ".json" or member.name.startswith(".z")
            change = text_mutated if is_text and chance.random() < 0.6 else mutated
            damaged = change(chance, content)
            target.write_bytes(damaged)
            words = commands(chance, str(path))
            fault = run(tet, words, statuses)
            if fault:
                bad.append(keep(folder, source, target, path, damaged, words, fault, f"{number}-{step}"))
            target.write_bytes(content) if source.is_dir() else target.unlink()
            pathlib.Path(f"{path}.npz").unlink(missing_ok=True)
    return statuses, bad


def run(tet, words, statuses):
    """What is wrong with a run, or None."""
    try:
        done = subprocess.run([tet, *words], capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        statuses["time"] += 1
        return f"takes more than {SECONDS} seconds"
    statuses[done.returncode] += 1
    text = done.stderr.decode("utf-8", "replace")
    if "panicked" in text or "memory allocation of" in text:
        return " ".join(text.split())[:300]
    if done.returncode not in STATUSES:
        return f"exit status {done.returncode}: {' '.join(text.split())[:300]}"
    return None


def keep(folder, source, target, path, damaged, words, fault, label):
    """Stores a damaged file that shows a fault."""
    kept = folder / "mutants"
    kept.mkdir(exist_ok=True)
    name = f"{label}-{source.name}"
    if source.is_dir():
        shutil.copytree(path, kept / name, dirs_exist_ok=True)
    else:
        (kept / name).write_bytes(damaged)
    shown = [str(kept / name) if word == str(path) else word for word in words]
    member = "" if target == path else f" (changed: {target.relative_to(path)})"
    return f"tet {' '.join(shown)}{member}: {fault}"


def start(arguments):
    return worker(*arguments)


def run_all(tet, folder, count, seed, processes=2):
    shares = [count // processes + (number < count % processes) for number in range(processes)]
    jobs = [(number, tet, folder, share, seed) for number, share in enumerate(shares)]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return pool.map(start, jobs)


def report(tet, folder, count, seed):
    """Prints what the mutations showed; whether all is well."""
    shutil.rmtree(folder / "mutants", ignore_errors=True)
    statuses, bad = collections.Counter(), []
    for found, faults in run_all(tet, folder.absolute(), count, seed):
        statuses.update(found)
        bad += faults
    told = ", ".join(f"{status}: {number}" for status, number in sorted(statuses.items(), key=str))
    print(f"{count} mutations, exit statuses {{{told}}}, {len(bad)} faults")
    for line in bad[:40]:
        print("  " + line)
    return not bad
