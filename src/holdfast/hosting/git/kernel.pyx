# cython: language_level=3, embedsignature=True
"""What a commit asks of the kernel, in C: forty calls, during which nobody else has to wait for the interpreter.

Only for Linux, and only where it was compiled; `calls.py` does the same without.
"""

import os

from cpython.mem cimport PyMem_Free, PyMem_Malloc

__all__ = ["exchange", "lay", "rewrite", "touch", "write_out"]

cdef extern from "Python.h":
    bytes PyUnicode_EncodeFSDefault(object text)

cdef extern from *:
    """
    #include <errno.h>
    #include <stddef.h>

    typedef struct {
        const char *beside;
        const char *path;
        const char *bytes;
        size_t size;
        int file;
        int is_named;
    } holdfast_laid;

    #ifdef __linux__
    #include <fcntl.h>
    #include <signal.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/stat.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    #define HOLDFAST_LAYS 1
    #define HOLDFAST_TRIED 5

    static int holdfast_touch(const char *path) {
        return utimensat(AT_FDCWD, path, NULL, 0) == 0 ? 0 : errno;
    }

    static int holdfast_write_out(int file) {
        const unsigned int all =
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
        if (sync_file_range(file, 0, 0, all) == 0) return 0;
        return fsync(file) == 0 ? 0 : errno;
    }

    static int holdfast_exchange(const char *one, const char *other) {
        return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2u);
    }

    /* Only who holds a lease on a file knows that nobody else has it open. Somebody who opens it in between would have
       us told by a signal that ends a process, were it not another one. */
    static int holdfast_is_ours_alone(int file) {
        return fcntl(file, F_SETSIG, SIGURG) == 0 && fcntl(file, F_SETLEASE, F_WRLCK) == 0 &&
               fcntl(file, F_SETLEASE, F_UNLCK) == 0;
    }

    static int holdfast_write_all(int file, const char *bytes, size_t size) {
        while (size > 0) {
            ssize_t done = write(file, bytes, size);
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) return errno;
            bytes += done;
            size -= (size_t)done;
        }
        return 0;
    }

    static int holdfast_rewrite(const char *path, const char *bytes, size_t size, int *is_written) {
        struct stat found;
        int problem = 0;
        int file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        *is_written = 0;
        if (file < 0) return 0;
        if (fstat(file, &found) == 0 && found.st_nlink == 1 && holdfast_is_ours_alone(file)) {
            problem = holdfast_write_all(file, bytes, size);
            if (problem == 0 && (size_t)found.st_size != size && ftruncate(file, (off_t)size) != 0) problem = errno;
            if (problem == 0) problem = holdfast_write_out(file);
            *is_written = problem == 0;
        }
        close(file);
        return problem;
    }

    /* A collection may remove the folder of an object at any moment. */
    static int holdfast_give_name(const char *beside, const char *path) {
        char folder[4096];
        const char *end = strrchr(path, '/');
        int tried;
        for (tried = 1;; tried++) {
            if (rename(beside, path) == 0) return 0;
            if (errno != ENOENT || tried == HOLDFAST_TRIED) return errno;
            if (end == NULL || (size_t)(end - path) >= sizeof folder) return ENAMETOOLONG;
            memcpy(folder, path, (size_t)(end - path));
            folder[end - path] = 0;
            if (mkdir(folder, 0755) != 0 && errno != EEXIST) return errno;
        }
    }

    static int holdfast_write_one(holdfast_laid *one, int durable) {
        int problem;
        one->file = open(one->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
        if (one->file < 0) return errno;
        problem = holdfast_write_all(one->file, one->bytes, one->size);
        /* Only begins: the others are written meanwhile. */
        if (problem == 0 && durable) sync_file_range(one->file, 0, 0, SYNC_FILE_RANGE_WRITE);
        return problem;
    }

    static int holdfast_lay(holdfast_laid *all, size_t count, int durable) {
        size_t number;
        int problem = 0;
        for (number = 0; number < count; number++) {
            all[number].file = -1;
            all[number].is_named = 0;
        }
        for (number = 0; number < count && problem == 0; number++)
            problem = holdfast_write_one(&all[number], durable);
        for (number = 0; number < count && problem == 0; number++) {
            if (durable) problem = holdfast_write_out(all[number].file);
            if (problem == 0) problem = holdfast_give_name(all[number].beside, all[number].path);
            if (problem == 0) all[number].is_named = 1;
        }
        for (number = 0; number < count; number++) {
            if (all[number].file < 0) continue;
            close(all[number].file);
            if (!all[number].is_named) unlink(all[number].beside);
        }
        return problem;
    }
    #else
    #define HOLDFAST_LAYS 0
    static int holdfast_touch(const char *path) { (void)path; return ENOSYS; }
    static int holdfast_write_out(int file) { (void)file; return ENOSYS; }
    static int holdfast_exchange(const char *one, const char *other) { (void)one; (void)other; return -1; }
    static int holdfast_rewrite(const char *path, const char *bytes, size_t size, int *is_written) {
        (void)path; (void)bytes; (void)size; (void)is_written;
        return ENOSYS;
    }
    static int holdfast_lay(holdfast_laid *all, size_t count, int durable) {
        (void)all; (void)count; (void)durable;
        return ENOSYS;
    }
    #endif
    """
    ctypedef struct holdfast_laid:
        const char *beside
        const char *path
        const char *bytes
        size_t size

    int HOLDFAST_LAYS
    int holdfast_touch(const char *path) nogil
    int holdfast_write_out(int file) nogil
    int holdfast_exchange(const char *one, const char *other) nogil
    int holdfast_rewrite(const char *path, const char *bytes, size_t size, int *is_written) nogil
    int holdfast_lay(holdfast_laid *files, size_t count, int durable) nogil

if not HOLDFAST_LAYS:
    raise ImportError("only Linux has all of these calls")


def touch(path):
    """Make a file young again; tell whether there is one."""
    cdef bytes name = PyUnicode_EncodeFSDefault(path)
    cdef const char *at = name
    cdef int problem
    with nogil:
        problem = holdfast_touch(at)
    return problem == 0


def write_out(descriptor):
    """Bring a file's bytes, but not necessarily its name, to the disk."""
    cdef int file = descriptor
    cdef int problem
    with nogil:
        problem = holdfast_write_out(file)
    if problem:
        raise OSError(problem, os.strerror(problem))


def exchange(one, other):
    """Let two files change places; tell whether they have."""
    cdef bytes one_name = PyUnicode_EncodeFSDefault(one), other_name = PyUnicode_EncodeFSDefault(other)
    cdef const char *first = one_name
    cdef const char *second = other_name
    cdef int result
    with nogil:
        result = holdfast_exchange(first, second)
    return result == 0


def rewrite(path, content):
    """Write a file again that nobody else has open and that has no other name; tell whether there is such one."""
    cdef bytes name = PyUnicode_EncodeFSDefault(path), kept = content
    cdef const char *at = name
    cdef const char *start = kept
    cdef size_t size = len(kept)
    cdef int is_written, problem
    with nogil:
        problem = holdfast_rewrite(at, start, size, &is_written)
    if problem:
        raise OSError(problem, os.strerror(problem))
    return bool(is_written)


def lay(files, durable):
    """Write files beside their places, and name them once the bytes of all are on the disk, or raise OSError."""
    cdef size_t count = len(files), number
    cdef int problem, synced = durable
    cdef list kept = []
    cdef bytes beside, path, content
    cdef holdfast_laid *laid = <holdfast_laid *>PyMem_Malloc((count + 1) * sizeof(holdfast_laid))
    if laid is NULL:
        raise MemoryError
    try:
        for number in range(count):
            beside_text, path_text, content = files[number]
            beside, path = PyUnicode_EncodeFSDefault(beside_text), PyUnicode_EncodeFSDefault(path_text)
            kept.append((beside, path, content))
            laid[number].beside = beside
            laid[number].path = path
            laid[number].bytes = content
            laid[number].size = len(content)
        with nogil:
            problem = holdfast_lay(laid, count, synced)
    finally:
        PyMem_Free(laid)
    if problem:
        raise OSError(problem, os.strerror(problem))
