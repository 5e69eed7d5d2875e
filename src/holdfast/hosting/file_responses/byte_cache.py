"""A cache of immutable responses as encoded bytes."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

__all__ = ["KeptBytes"]

LARGEST: Final = 2**20


class KeptBytes:
    """An LRU cache with limits on the total size and on that of each response, in bytes."""

    def __init__(self, most: int, largest: int = LARGEST) -> None:
        self._most = most
        self._largest = largest
        self._size = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable) -> bytes | None:
        """Return a response, or None."""
        with self._lock:
            content = self._kept.get(key)
            if content is not None:
                self._kept.move_to_end(key)
            return content

    def put(self, key: Hashable, answer: bytes) -> None:
        """Store a response, unless it is too large."""
        if len(answer) > self._largest:
            return
        with self._lock:
            self._size += len(answer) - len(self._kept.pop(key, b""))
            self._kept[key] = answer
            while self._size > self._most:
                self._size -= len(self._kept.popitem(last=False)[1])
