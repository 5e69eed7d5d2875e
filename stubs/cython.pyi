# The part of Cython's pure-Python mode that the core uses; the package's own annotations are not exported.
import builtins
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias, TypeVar

_T = TypeVar("_T")
_int: TypeAlias = builtins.int

class _DecoratorAndManager(AbstractContextManager[None], Protocol):
    def __call__(self, item: _T, /) -> _T: ...

compiled: bool
nogil: _DecoratorAndManager
const: Any

Py_ssize_t: TypeAlias = _int
int: TypeAlias = _int  # noqa: A001
uint: TypeAlias = _int
uchar: TypeAlias = _int
longlong: TypeAlias = _int
ulonglong: TypeAlias = Any  # also written as the item of a memory view, which has no Python type
bint: TypeAlias = bool
double: TypeAlias = float
void: TypeAlias = None

def cclass(item: type[_T], /) -> type[_T]: ...
def final(item: type[_T], /) -> type[_T]: ...
def cfunc(item: _T, /) -> _T: ...
def ccall(item: _T, /) -> _T: ...
def inline(item: _T, /) -> _T: ...
def exceptval(value: object = ..., /, *, check: bool = ...) -> Callable[[_T], _T]: ...
def declare(kind: object, value: _T, /) -> _T: ...
def cast(kind: type[_T], value: object, /) -> _T: ...
