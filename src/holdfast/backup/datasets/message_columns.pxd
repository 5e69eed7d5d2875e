cimport cython

from holdfast.backup.archives.item_rows cimport ItemReader
from holdfast.backup.archives.part_rows cimport PartReader

@cython.final
cdef class MessageColumns:
    cdef public Py_ssize_t rows
    cdef public Py_ssize_t capacity
    cdef public long long[::1] message_id
    cdef public long long[::1] chat_id
    cdef public long long[::1] author_id
    cdef public long long[::1] sent
    cdef public long long[::1] received
    cdef public long long[::1] expires_in
    cdef public long long[::1] pinned
    cdef public long long[::1] quoted_sent
    cdef public long long[::1] quoted_author
    cdef public int[::1] look
    cdef public int[::1] attachments
    cdef public int[::1] reactions
    cdef public int[::1] revisions
    cdef public int[::1] text_ends
    cdef public bytearray texts
    cdef public dict quoted_texts
    cdef public dict events

    cdef Py_ssize_t add(
        self,
        long long message_id,
        long long chat_id,
        long long author_id,
        long long sent,
        long long received,
        long long expires_in,
        unsigned int look,
        bytes text,
    ) except -1

cdef Py_ssize_t add_plain(MessageColumns columns, ItemReader items, long long number) except -1

cdef bint add_with_parts(
    MessageColumns columns,
    ItemReader items,
    ItemReader earlier,
    PartReader parts,
    long long number,
    list reactions,
    list attachments,
) except -1
