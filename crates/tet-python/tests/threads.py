"""Work of several threads at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable


def at_once(count: int, work: Callable[[int], None]) -> None:
    """Does the work with each number below ``count``, all at the same time: none fails, and each ends within a minute."""
    failed: list[BaseException] = []

    def kept(nth: int) -> None:
        try:
            work(nth)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=kept, args=(nth,)) for nth in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failed and not any(thread.is_alive() for thread in threads)
