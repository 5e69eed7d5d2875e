"""Answers that never change, kept as the bytes they are sent as."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

__all__ = ["KeptBytes"]

LARGEST: Final = 2**20


class KeptBytes:
    """As many answers as fit into so many bytes; the one nobody has asked for longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable) -> bytes | None:
        """Return an answer."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: Hashable, answer: bytes) -> None:
        """Keep an answer, unless it alone would drive out too many others."""
        if len(answer) > LARGEST:
            return
        with self._lock:
            self._size += len(answer) - len(self._kept.pop(key, b""))
            self._kept[key] = answer
            while self._size > self._most:
                self._size -= len(self._kept.popitem(last=False)[1])
