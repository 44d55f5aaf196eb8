"""Works done by one peer after the other, round by round, each in a process that stays."""

import json
import math
import select
import statistics
import subprocess
import sys

# Seconds after which a work is given up, and milliseconds after which one round is enough.
PATIENCE = 60
LONG = 3000
# float32 sums of NumPy differ from exact ones by about 1e-7.
TOLERANCE = 1e-4


class Refused(Exception):
    """A work that cannot be done, with the reason."""


class Library:
    """A process that runs works in itself."""

    def __init__(self, command):
        self.command = command
        self.process = None
        self.hello = self.start()

    def start(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, bufsize=0)
        return json.loads(self.line(600))

    def line(self, seconds):
        """The next line; `TimeoutError` if it does not come in time."""
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            raise TimeoutError
        return self.process.stdout.readline().decode().strip()

    def run(self, how, work, path):
        """Milliseconds of a work, and the sum of its answer."""
        try:
            self.process.stdin.write(f"{how} {work.name} {path}\n".encode())
            line = self.line(PATIENCE)
            milliseconds, check = line.split(" ", 1)
            return float(milliseconds), float(check)
        except ValueError:
            self.stop()
            self.start()
            raise Refused(line.removeprefix("error: ") or "it ended") from None
        except TimeoutError:
            self.stop()
            self.start()
            raise

    def stop(self):
        self.process.kill()
        self.process.wait()


def measured(work, paths, peers, rounds):
    """The cell of each peer that has a file, and all its times."""
    cells, times, checks = {}, {}, {}
    for name, peer in peers.items():
        if name not in paths:
            continue
        try:
            milliseconds, check = peer.run("check", work, paths[name])
            times[name] = [milliseconds] if milliseconds > LONG else []
            checks[name] = check
        except Refused as reason:
            cells[name] = {"refused": str(reason)}
        except TimeoutError:
            cells[name] = {"over": PATIENCE * 1e3}
    agree(work, checks)
    quick = [name for name in times if not times[name]]
    for _ in range(rounds):
        for name in quick:
            times[name].append(peers[name].run("time", work, paths[name])[0])
    for name, figures in times.items():
        spread = {"median": statistics.median(figures), "min": min(figures), "max": max(figures)}
        cells[name] = {**spread, "rounds": len(figures)}
    return cells, times


def agree(work, checks):
    """Fails when an answer is another one."""
    found = {name: check for name, check in checks.items() if not math.isnan(check)}
    for name, check in found.items():
        if not math.isclose(check, next(iter(found.values())), rel_tol=TOLERANCE):
            sys.exit(f"{work.title}: the answers differ: {found}")


def span(milliseconds):
    """A time in a unit that fits."""
    if milliseconds < 1:
        return f"{milliseconds * 1e3:.3g} us"
    return f"{milliseconds:.3g} ms" if milliseconds < 1e3 else f"{milliseconds / 1e3:.3g} s"


def aligned(lines):
    """Lines of cells as a table."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
