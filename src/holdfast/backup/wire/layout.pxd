# The numbers of layout.py as constants of C.

cdef enum:
    MAX_DEPTH = 100
    LEVELS = 102
    WIDTH = 48
    NOTES = 8
    REGISTERS = 4896
    HEAD = 7
    PAGE = 65536
    MOST_RULES = 2048
    WIRE_TYPE = 15
    KIND = 240
    MESSAGE = 16
    STRING = 32
    BYTES = 48
    UINT64 = 64
    UINT32 = 80
    BOOL = 96
    ENUM = 112
    FIXED32 = 128
    FLOAT = 144
    REPEATED = 256
    PACKABLE = 512
    KEPT = 1024
    UNKNOWN = 15
    CHECKED = 65536
    AGED = 131072
    DATED = 262144
    REFERRING = 524288
    TARGET_AT = 32
    LIMIT_AT = 16
