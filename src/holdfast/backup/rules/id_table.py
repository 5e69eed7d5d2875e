"""A hash table of the ids of a backup: the kind of each, and the frame that defined it.

Messages are checked by several threads, each with a part of the stream, so a table may already have ids that come
later than a message: a lookup takes the frame of the reference. A table that threads read is never modified; a
copy is made to add ids.
"""

import secrets
from array import array

import cython

__all__ = ["IdTable"]

ALL_64 = cython.declare(cython.ulonglong, (1 << 64) - 1)
LOW_8 = cython.declare(cython.ulonglong, 255)


class IdTable:
    """Ids other than 0, each with a kind, a frame and one more number.

    Open addressing with linear probing, at most half full. The hash function has a random factor, so that a
    crafted file cannot cause collisions.
    """

    def __init__(self, bits: cython.int = 8) -> None:
        self.bits = bits
        self.count = 0
        self.spread = secrets.randbits(64) | 1
        self.keys = array("Q", bytes(8 << bits))
        self.marks = array("Q", bytes(8 << bits))
        self.others = array("Q", bytes(8 << bits))

    def place(self, key: cython.ulonglong) -> cython.size_t:
        """Return the index of an id, or of the free entry where it would be added."""
        mask: cython.size_t = (1 << self.bits) - 1
        at: cython.size_t = cython.cast(cython.size_t, ((key * self.spread) & ALL_64) >> (64 - self.bits))
        here: cython.ulonglong = self.keys[at]
        while here not in (key, 0):
            at = (at + 1) & mask
            here = self.keys[at]
        return at

    def find(self, key: cython.ulonglong, frame: cython.ulonglong) -> cython.Py_ssize_t:
        """Return the index of an id that was defined before a frame; -1 if there is none."""
        at: cython.size_t = cython.cast(cython.size_t, ((key * self.spread) & ALL_64) >> (64 - self.bits))
        # Most ids are at the first place, so this does not call.
        if self.keys[at] != key:
            at = self.place(key)
        if self.keys[at] != key or self.marks[at] >> 8 >= frame or key == 0:
            return -1
        return at

    def kind(self, at: cython.Py_ssize_t) -> cython.uint:
        """Return the kind of the id at an index."""
        return cython.cast(cython.uint, self.marks[at] & LOW_8)

    def room(self) -> cython.Py_ssize_t:
        """Return the number of entries, free ones included."""
        return 1 << self.bits

    def knows(self, key: cython.ulonglong) -> cython.bint:
        """Return whether the table contains an id."""
        known: cython.bint = key != 0 and self.keys[self.place(key)] == key
        return known

    def kind_of(self, key: cython.ulonglong) -> cython.uint:
        """Return the kind of an id, 0 if the table does not contain it."""
        return self.kind(self.place(key)) if self.knows(key) else 0

    def add(
        self, key: cython.ulonglong, kind: cython.uint, frame: cython.ulonglong, other: cython.ulonglong = 0
    ) -> None:
        """Add an id, which must be new and not 0."""
        at: cython.Py_ssize_t
        if 2 * (self.count + 1) > self.room():
            self.grow()
        at = self.place(key)
        self.keys[at] = key
        self.marks[at] = frame << 8 | kind
        self.others[at] = other
        self.count += 1

    def grow(self) -> None:
        """Double the number of entries."""
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
        """Return a copy, to add to while threads read this one."""
        made = IdTable(1)
        made.bits = self.bits
        made.count = self.count
        made.spread = self.spread
        made.keys = array("Q", self.keys)
        made.marks = array("Q", self.marks)
        made.others = array("Q", self.others)
        return made
