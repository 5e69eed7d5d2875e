"""A helper that runs calls concurrently in threads."""

import threading
from collections.abc import Callable

__all__ = ["run_concurrently"]


def run_concurrently(*actions: Callable[[], object]) -> list[BaseException | None]:
    """Run actions at the same moment, and return for each the exception that it raised, or None."""
    results: list[BaseException | None] = [None] * len(actions)
    barrier = threading.Barrier(len(actions))

    def run(index: int) -> None:
        barrier.wait()
        try:
            actions[index]()
        except Exception as error:  # noqa: BLE001  # the test looks at whatever it is
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
