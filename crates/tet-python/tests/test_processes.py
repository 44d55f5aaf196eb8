"""Threads, processes, signals, and what is left of an open file."""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tetfile
from children import running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc and forks")


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """64 MiB, of which every read takes threads."""
    folder = tmp_path_factory.mktemp("big")
    values = np.random.default_rng(0).normal(size=(64, 256, 512)).astype("f8")
    np.savez(folder / "x.npz", x=values)
    tetfile.convert(folder / "x.npz", folder / "x.tet", chunks=(8, 64, 128))
    (folder / "x.npz").unlink()
    return folder / "x.tet"


def _sum(dataset: tetfile.Dataset) -> Any:
    return dataset.sum()


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_a_hundred_threads_read_one_dataset(big: Path) -> None:
    with tetfile.open(big) as f:
        d = f["x"]
        whole = d[...]
        chance = np.random.default_rng(2)
        starts = chance.integers(0, 60, 100)

        def read(start: int) -> bool:
            return bool(np.array_equal(d[start : start + 4, ::3, 5], whole[start : start + 4, ::3, 5]))

        with ThreadPoolExecutor(100) as pool:
            assert all(pool.map(read, starts))
            means = list(pool.map(lambda _: float(d.mean()), range(8)))
        assert len(set(means)) == 1


def test_the_interpreter_goes_on_meanwhile(big: Path) -> None:
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    with tetfile.open(big) as f:
        thread.start()
        before, began = ticks, time.monotonic()
        f["x"].median()
        ran, took = ticks - before, time.monotonic() - began
        done.set()
        thread.join()
    # A lock that is held would let it tick once or twice.
    assert ran > 5 or took < 0.02


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_read_what_they_are_given(method: str, big: Path) -> None:
    with tetfile.open(big) as f:
        wanted = f["x"].sum()
        part = f["x"].isel(dim_0=0) if f["x"].dims else f["x"]
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            found = pool.map_async(_sum, [f["x"], f["x"], part]).get(timeout=120)
        assert found[:2] == [wanted, wanted]
        # The parent goes on.
        assert f["x"].sum() == wanted


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_during_reads_goes_on(big: Path) -> None:
    with tetfile.open(big) as f:
        stop = threading.Event()

        def read() -> None:
            while not stop.is_set():
                f["x"].max(axis=0)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    signal.alarm(60)
                    os._exit(0 if f["x"].count() == 64 * 256 * 512 else 1)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        finally:
            stop.set()
            for thread in threads:
                thread.join()


ENDLESS = """
    import sys, time, tetfile
    f = tetfile.open(sys.argv[1])
    print("ready", flush=True)
    try:
        while True:
            {work}
    except KeyboardInterrupt:
        print("stopped", time.time(), flush=True)
        print(f["x"][1, 2, 3] == f["x"][1, 2][3], flush=True)
"""


WORKS = ["f['x'].median(axis=0)", "f['x'][...]", "tetfile.verify(sys.argv[1])", "f['x'][[1, 9, 60], ::-3]"]


@pytest.mark.parametrize("work", WORKS)
def test_an_interrupt_stops_the_work(work: str, big: Path) -> None:
    for wait in (0.15, 0.32):
        with running(ENDLESS.format(work=work), big) as child:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            time.sleep(wait)
            sent = time.time()
            child.send_signal(signal.SIGINT)
            out, errors = child.communicate(timeout=60)
        assert child.returncode == 0, errors
        stopped, sound = out.splitlines()
        # The bound is loose: the machine may be busy.
        assert stopped.startswith("stopped") and float(stopped.split()[1]) - sent < 5.0
        assert sound == "True"


def test_an_interrupt_stops_an_opening(tmp_path: Path) -> None:
    """A table has to be read to know its rows."""
    row = ",".join(map(str, range(50))) + "\n"
    (tmp_path / "x.csv").write_text(row * 600_000)
    code = """
        import sys, time, tetfile
        print("ready", flush=True)
        try:
            while True:
                tetfile.open(sys.argv[1])
        except KeyboardInterrupt:
            print("stopped", time.time(), flush=True)
    """
    with running(code, tmp_path / "x.csv") as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(0.1)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors
    assert float(out.split()[1]) - sent < 5.0


def test_progress_is_reported_and_may_stop(big: Path, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    with tetfile.open(big) as f:
        f["x"].read(progress=lambda done, of: calls.append((done, of)))
        assert calls and calls[-1] == (f["x"].nbytes, f["x"].nbytes)
        assert all(one[0] <= other[0] for one, other in zip(calls, calls[1:], strict=False))

        last: list[tuple[int, int]] = []

        def stop(done: int, of: int) -> None:
            last[:] = [(done, of)]
            raise RuntimeError("enough")

        for work in (f["x"].read, f["x"].mean, lambda progress: tetfile.convert(big, tmp_path / "o.npz", progress=progress)):
            with pytest.raises(RuntimeError, match="enough"):
                work(progress=stop)
        # Work that was done before it could be stopped has its output.
        is_done = last[0][0] == last[0][1]
        assert is_done or not list(tmp_path.iterdir()), "an output that was stopped is not there"


def test_bars_of_tqdm_are_moved(big: Path) -> None:
    from tqdm import tqdm

    with tetfile.open(big) as f, tqdm(unit="B", file=io.StringIO()) as bar:
        f["x"].read(progress=bar)
        assert (bar.n, bar.total) == (f["x"].nbytes, f["x"].nbytes)


def test_files_are_closed_when_nothing_refers_to_them(files: Path) -> None:
    gc.collect()
    gc.disable()
    try:
        before = _descriptors()
        for _ in range(1000):
            f = tetfile.open(files / "climate.tet")
            d = f["temp"]
            d[0, 0, 0]
        del f, d
        # Without the collector of garbage: there is no circle of references.
        assert _descriptors() == before
        held = tetfile.open(files / "climate.tet")["temp"]
        assert held[0, 0, 0] == 288 and _descriptors() == before + 1
        held.file.close()
        assert _descriptors() == before
    finally:
        gc.enable()


def test_memory_is_flat_over_many_reads(big: Path) -> None:
    with tetfile.open(big) as f:
        d = f["x"]

        def read(count: int) -> None:
            for at in range(count):
                d[at % 64, at % 256], d[[1, 5], :, at % 512], d.isel(**{}), repr(d)

        read(500)
        before = _resident()
        read(10_000)
        assert _resident() - before < 8 << 20


def test_a_file_that_is_closed_by_another_thread(big: Path) -> None:
    for _ in range(20):
        f = tetfile.open(big)
        d = f["x"]
        errors: list[BaseException] = []

        def read(d: tetfile.Dataset = d, errors: list[BaseException] = errors) -> None:
            try:
                while True:
                    d[3:5]
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.005)
        f.close()
        for thread in threads:
            thread.join()
        assert [type(error) for error in errors] == [ValueError] * 4


def test_what_is_deleted_while_it_is_read_is_read_to_its_end(big: Path) -> None:
    """The last references go away in the middle of reads, of reductions and of lazy parts."""
    wanted = tetfile.open(big)["x"][8:24]
    gc.collect()
    before = _descriptors()
    found: list[Any] = []

    def read(held: list[tetfile.Dataset]) -> None:
        dataset = held.pop()
        found.append(dataset.isel(dim_0=slice(8, 24))[...] if dataset.dims else dataset[8:24])
        found.append(dataset.max())

    for _ in range(5):
        threads = [threading.Thread(target=read, args=([tetfile.open(big)["x"]],)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    del threads, thread
    arrays = [one for one in found if isinstance(one, np.ndarray)]
    assert len(arrays) == 20 and all(np.array_equal(one, wanted) for one in arrays)
    assert len({float(one) for one in found if not isinstance(one, np.ndarray)}) == 1
    assert _descriptors() == before


def test_five_hundred_files_are_open_at_once(files: Path) -> None:
    before = _descriptors()
    opened = [tetfile.open(files / "climate.tet") for _ in range(500)]
    assert all(f["temp"][0, 0, 0] == 288 for f in opened)
    assert _descriptors() == before + 500
    for f in opened:
        f.close()
    assert _descriptors() == before


def test_a_file_that_is_replaced_stays_what_it_was(tmp_path: Path) -> None:
    path, other = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(path, np.arange(1000))
    np.save(other, np.zeros(1000, int))
    with tetfile.open(path) as f:
        other.rename(path)
        assert f["x"].sum() == 499500
    with tetfile.open(path) as f:
        np.save(path, np.arange(999))
        with pytest.raises(tetfile.ChangedError) as caught:
            f["x"][...]
        assert caught.value.path == str(path)


def test_the_interpreter_exits_during_a_read(big: Path) -> None:
    code = """
        import sys, threading, tetfile
        d = tetfile.open(sys.argv[1])["x"]
        def read():
            while True:
                d.mean(axis=1)
        for _ in range(4):
            threading.Thread(target=read, daemon=True).start()
        d[0]
        print("done", flush=True)
    """
    with running(code, big) as child:
        out, errors = child.communicate(timeout=60)
    assert (child.returncode, out) == (0, "done\n"), errors
