"""The ids of a backup: what each stands for, and which frame it came with.

Messages are checked by several threads, each a stretch of the stream, so a table may already know ids that a
message must not: a lookup says from which frame it asks. A table that is being looked into is never changed;
whoever wants to add to it adds to a copy.
"""

import secrets
from array import array

import cython

__all__ = ["IdTable"]

ALL_64 = cython.declare(cython.ulonglong, (1 << 64) - 1)
LOW_8 = cython.declare(cython.ulonglong, 255)


class IdTable:
    """Ids other than 0, each with a kind, a frame and one more number.

    A table with more room than ids; where an id goes is decided by a number that is chosen at random, so that no
    file can be made to fill one corner of it.
    """

    def __init__(self, bits: cython.int = 8) -> None:
        self.bits = bits
        self.count = 0
        self.spread = secrets.randbits(64) | 1
        self.keys = array("Q", bytes(8 << bits))
        self.marks = array("Q", bytes(8 << bits))
        self.others = array("Q", bytes(8 << bits))

    def place(self, key: cython.ulonglong) -> cython.size_t:
        """Find where an id is, or would go."""
        mask: cython.size_t = (1 << self.bits) - 1
        at: cython.size_t = cython.cast(cython.size_t, ((key * self.spread) & ALL_64) >> (64 - self.bits))
        here: cython.ulonglong = self.keys[at]
        while here not in (key, 0):
            at = (at + 1) & mask
            here = self.keys[at]
        return at

    def find(self, key: cython.ulonglong, frame: cython.ulonglong) -> cython.Py_ssize_t:
        """Find an id that came before a frame; -1 when there is none."""
        at: cython.size_t = self.place(key)
        if self.keys[at] != key or self.marks[at] >> 8 >= frame or key == 0:
            return -1
        return at

    def kind(self, at: cython.Py_ssize_t) -> cython.uint:
        """Return the kind of what was found at a place."""
        return cython.cast(cython.uint, self.marks[at] & LOW_8)

    def room(self) -> int:
        """Return how many places there are."""
        return 1 << self.bits

    def knows(self, key: int) -> bool:
        """Return whether an id is there already."""
        return key != 0 and self.keys[self.place(key)] == key

    def kind_of(self, key: int) -> int:
        """Return the kind of an id, no kind where it is not there."""
        return self.kind(self.place(key)) if self.knows(key) else 0

    def add(self, key: int, kind: int, frame: int, other: int = 0) -> None:
        """Add an id that is not 0 and not there yet."""
        at: cython.Py_ssize_t
        if 2 * (self.count + 1) > self.room():
            self.grow()
        at = self.place(key)
        self.keys[at] = key
        self.marks[at] = frame << 8 | kind
        self.others[at] = other
        self.count += 1

    def grow(self) -> None:
        """Make twice the room."""
        keys, marks, others = self.keys, self.marks, self.others
        index: cython.Py_ssize_t
        at: cython.Py_ssize_t
        self.bits += 1
        self.keys = array("Q", bytes(8 << self.bits))
        self.marks = array("Q", bytes(8 << self.bits))
        self.others = array("Q", bytes(8 << self.bits))
        for index in range(len(keys)):
            if keys[index]:
                at = self.place(keys[index])
                self.keys[at] = keys[index]
                self.marks[at] = marks[index]
                self.others[at] = others[index]

    def copy(self) -> "IdTable":
        """Make another that can be added to while this one is being looked into."""
        made = IdTable(1)
        made.bits = self.bits
        made.count = self.count
        made.spread = self.spread
        made.keys = array("Q", self.keys)
        made.marks = array("Q", self.marks)
        made.others = array("Q", self.others)
        return made
