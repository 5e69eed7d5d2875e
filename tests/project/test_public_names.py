"""Public names: listed in `__all__`, documented, and complete."""

import inspect
import pkgutil
from importlib import import_module
from types import ModuleType

import pytest

import holdfast
import holdfast_demo


def public_modules() -> list[str]:
    """List every module of the package that people wrote."""
    names = [module.name for module in pkgutil.walk_packages(holdfast.__path__, "holdfast.")]
    names += [module.name for module in pkgutil.walk_packages(holdfast_demo.__path__, "holdfast_demo.")]
    return [
        "holdfast",
        "holdfast_demo",
        *(
            name
            for name in names
            if "_pb2" not in name and ".migrations" not in name and not name.endswith("._cyutility")
        ),
    ]


@pytest.mark.parametrize("name", public_modules())
def test_every_module_lists_its_public_names_and_documents_them(name: str) -> None:
    """`__all__` is sorted, exists, and each name in it that can have a docstring has one, as have its methods."""
    module = import_module(name)
    assert inspect.getdoc(module), f"{name} has no docstring"
    if not hasattr(module, "__all__"):
        assert module.__file__ is not None
        assert module.__file__.endswith("__init__.py"), f"{name} does not say what is public"
        return
    assert len(set(module.__all__)) == len(module.__all__)
    for public in module.__all__:
        value = getattr(module, public)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert inspect.getdoc(value), f"{name}.{public} has no docstring"
        if inspect.isclass(value) and value.__module__ == name:
            check_methods(name, value)


def check_methods(name: str, value: type) -> None:
    """Find public methods and properties without a docstring."""
    for attribute, member in vars(value).items():
        if not attribute.startswith("_") and (inspect.isroutine(member) or isinstance(member, property)):
            assert inspect.getdoc(member), f"{name}.{value.__name__}.{attribute} has no docstring"


@pytest.mark.parametrize("library", ["holdfast", "holdfast.backup"])
def test_nothing_leaks_from_a_library(library: str) -> None:
    """Each name of a library without an underscore is in `__all__` or is a module."""
    module = import_module(library)
    leaked = {
        name
        for name in dir(module)
        if not name.startswith("_")
        and name not in module.__all__
        and not isinstance(getattr(module, name), ModuleType)
    }
    assert leaked <= {"version"} if library == "holdfast" else not leaked
