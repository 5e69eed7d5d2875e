"""The public API: complete, exported by its public module, documented by examples that run."""

import doctest
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast.backup as hb
from tests.backup.docstring_examples import EXAMPLE_KEY_FILE, write_example_files

FUNCTIONS = (
    "archive",
    "build_dataset",
    "change_passphrase",
    "check_completeness",
    "convert",
    "crop",
    "dataset",
    "dataset_batches",
    "dataset_connection",
    "dataset_statistics",
    "decrypt_archive",
    "diff",
    "encrypt_archive",
    "export",
    "extract",
    "info",
    "keep",
    "merge",
    "open",
    "plan_repair",
    "read_keys",
    "redact",
    "repair",
    "search_dataset",
    "undo_repair",
    "validate",
    "validate_dataset",
    "write",
)


def definitions() -> list[str]:
    """List the public classes and functions."""
    return [name for name in hb.__all__ if name != "COMPILED"]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the backup and the folder that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    write_example_files(folder)
    return folder


def test_the_functions_are_functions() -> None:
    """The public functions are exactly those of the list."""
    assert tuple(name for name in hb.__all__ if inspect.isfunction(getattr(hb, name))) == FUNCTIONS


@pytest.mark.parametrize("name", definitions())
def test_a_public_name_is_shown_under_the_public_module(name: str) -> None:
    """Public names have the module `holdfast.backup`, and can be pickled under it."""
    value = getattr(hb, name)
    assert (value.__module__, value.__qualname__) == ("holdfast.backup", name)
    assert pickle.loads(pickle.dumps(value)) is value


def test_an_error_is_shown_under_its_public_name(tmp_path: Path) -> None:
    """The last line of a traceback has the public name of the error class."""
    completed = subprocess.run(
        [sys.executable, "-c", "import holdfast.backup as hb; hb.info('nowhere')"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert completed.stderr.splitlines()[-1].startswith("holdfast.backup.UnreadableBackup: nowhere cannot be read")


def test_no_submodule_shadows_a_public_name() -> None:
    """No submodule has the name of a public function, which importing it would replace."""
    modules = {module.name for module in pkgutil.iter_modules(hb.__path__)}
    assert not modules & set(hb.__all__)


def test_nothing_else_is_shown_under_the_public_module() -> None:
    """Every class with the module `holdfast.backup` is in its `__all__`."""
    for module in pkgutil.walk_packages(hb.__path__, "holdfast.backup."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if getattr(value, "__module__", None) == "holdfast.backup" and inspect.isclass(value):
                assert value.__name__ in hb.__all__, f"{module.name}.{name}"


def test_importing_the_library_loads_nothing_of_it() -> None:
    """Importing `holdfast.backup` loads no submodule, no protobuf and no cryptography."""
    code = "import sys, holdfast.backup; print(*sorted(sys.modules))"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = completed.stdout.split()
    assert [name for name in loaded if name.startswith(("holdfast.backup.", "google", "cryptography"))] == []


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    """An unknown name is an AttributeError, and `dir` lists all public names."""
    with pytest.raises(AttributeError, match="has no attribute 'vanish'"):
        hb.vanish  # noqa: B018  # the access is what is tested
    assert dir(hb) == sorted(hb.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_example_gives_what_its_documentation_says(
    name: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each public function has an example in its docstring that passes as a doctest."""
    for source in prepared.iterdir():
        (tmp_path / source.name).symlink_to(source)
    monkeypatch.chdir(tmp_path)
    documented = doctest.DocTestParser().get_doctest(
        inspect.getdoc(getattr(hb, name)) or "",
        {"hb": hb, "key_file": EXAMPLE_KEY_FILE},
        name,
        None,
        None,
    )
    assert documented.examples, f"{name} has no example"
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(documented, out=report.append)
    assert result.failed == 0, "".join(report)
