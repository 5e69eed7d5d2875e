from holdfast.backup.rules.bodies cimport Bodies
from holdfast.backup.wire.layout cimport NOTES, WIDTH

cdef class Items(Bodies):
    cdef void send_status(self, int depth) noexcept nogil
    cdef void outgoing(self, int depth) noexcept nogil
    cdef void incoming(self, int depth) noexcept nogil
    cdef void view_once(self, int depth) noexcept nogil
    cdef void simple_update(self, int depth) noexcept nogil
    cdef void update(self, int depth) noexcept nogil
    cdef void member_added(self, int depth) noexcept nogil
    cdef void item(self, int depth) noexcept nogil
    cdef void expiry(self, int depth, unsigned int direction) noexcept nogil
    cdef void revision(self, int depth, unsigned int direction, unsigned long long kind) noexcept nogil
    cdef void place_of(self, int depth, unsigned int author, unsigned long long kind) noexcept nogil
