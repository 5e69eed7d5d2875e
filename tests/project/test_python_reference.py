"""The reference of the Python library."""

import doctest
import inspect
import re
import shutil
from pathlib import Path

import pytest
from tools import python_api

import holdfast.backup as hb
from tests.backup.docstring_examples import EXAMPLE_KEY_FILE, write_example_files
from tests.conftest import ROOT

CLASSES = [name for name in hb.__all__ if inspect.isclass(getattr(hb, name))]


def page() -> str:
    """Read the page."""
    return (ROOT / "docs/reference/python.md").read_text()


def section(name: str) -> str:
    """Return the section of the page about one name."""
    match = re.search(rf"^### {name}\n(.*?)(?=^##? |^### |\Z)", page(), re.MULTILINE | re.DOTALL)
    assert match is not None, f"{name} is not on the page"
    return match[1]


@pytest.mark.parametrize("name", hb.__all__)
def test_every_public_name_is_on_the_page(name: str) -> None:
    """The section of each public name has the first line of its docstring."""
    value = getattr(hb, name)
    if name != "COMPILED":
        assert (inspect.getdoc(value) or "").splitlines()[0] in section(name)


@pytest.mark.parametrize("name", CLASSES)
def test_every_field_and_method_of_a_class_is_on_the_page(name: str) -> None:
    """Each public field, property and method is on the page, except those listed as internal."""
    cls = getattr(hb, name)
    text = section(name)
    left_out = python_api.INTERNAL.get(name, set())
    public = {member for member, _ in python_api.members(cls)} | set(getattr(cls, "__annotations__", {}))
    for attribute in {member for member in public if not member.startswith("_")} - left_out:
        assert f"| `{attribute}` |" in text or f"#### {name}.{attribute}\n" in text, f"{name}.{attribute}"
    assert left_out <= public | {"connection"}, "what is left out exists"


@pytest.mark.parametrize("name", [one for one in CLASSES if python_api.is_made_by_hand(getattr(hb, one))])
def test_a_constructor_is_on_the_page(name: str) -> None:
    """The section of a class has its constructor or a link to the function that returns it."""
    assert f"```python\n{name}(" in section(name) or "Returned by [" in section(name)


@pytest.fixture(scope="module")
def example_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder that the examples run in."""
    folder = tmp_path_factory.mktemp("examples")
    write_example_files(folder)
    return folder


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_an_example_that_works(
    example_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The example of each class is on its page and passes as a doctest."""
    assert python_api.EXAMPLES[name] in section(name)
    shutil.copytree(example_files, tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    names = {"hb": hb, "key_file": EXAMPLE_KEY_FILE}
    session = doctest.DocTestParser().get_doctest(python_api.EXAMPLES[name], names, name, None, None)
    report: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(session, out=report.append).failed == 0, "".join(report)


def test_examples_are_of_public_classes() -> None:
    """The classes with an example are exactly the public classes."""
    assert set(CLASSES) == python_api.EXAMPLES.keys()


def test_types_are_readable() -> None:
    """Types on the page have short names, without modules, `Union` or object addresses."""
    for block in re.findall(r"```python\n(.*?)```", page(), re.DOTALL):
        assert not re.search(r"\b(holdfast|typing|collections|os|pathlib|datetime)\.", block), block
        assert "Union[" not in block
        assert " object at 0x" not in block


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (int | None, "int | None"),
        (dict[str, list[Path]], "dict[str, list[Path]]"),
        (hb.Backup, "Backup"),
        (None, "None"),
        (tuple[int, ...], "tuple[int, ...]"),
    ],
)
def test_a_type_is_written_as_in_code(annotation: object, text: str) -> None:
    """Unions are written with bars and generics with their parameters."""
    assert python_api.readable(annotation) == text


def test_the_policy_is_linked_from_the_documentation() -> None:
    """The page on stability is linked from the documentation index and from the reference."""
    assert "stability.md" in (ROOT / "docs/README.md").read_text()
    assert "stability.md" in page()
