# The part of Cython's pure-Python mode that the core uses; the package's own annotations are not exported.
import builtins
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, TypeVar

_T = TypeVar("_T")
_int: TypeAlias = builtins.int

compiled: bool
nogil: AbstractContextManager[None]
gil: AbstractContextManager[None]
const: Any

Py_ssize_t: TypeAlias = _int
size_t: TypeAlias = _int
int: TypeAlias = _int  # noqa: A001
uint: TypeAlias = _int
uchar: TypeAlias = _int
p_uchar: TypeAlias = builtins.bytes
longlong: TypeAlias = _int
ulonglong: TypeAlias = Any  # also written as the item of a memory view, which has no Python type
bint: TypeAlias = bool
void: TypeAlias = None

def declare(kind: Any, value: _T, /) -> _T: ...
def cast(kind: type[_T], value: object, /) -> _T: ...
def address(item: object, /) -> object: ...
def boundscheck(on: bool, /) -> Callable[[_T], _T]: ...
