"""The layout of the tests, which mirrors that of the packages."""

from tools.mirror import DEMO, ELSEWHERE, NEIGHBOURS, SOURCE, TESTS, WHOLE, find_tests, modules, own_test

from tests.conftest import ROOT

MOST_EXCEPTIONS = 21


def test_every_module_has_its_tests() -> None:
    """src/holdfast/a/b.py is tested by tests/a/test_b.py; tools/mirror.py has the rules and the exceptions."""
    for module in modules():
        assert find_tests(module), f"{module} has no tests/{module.with_name(f'test_{module.name}')}"


def test_exceptions_are_few_and_needed() -> None:
    """A module with tests of its own is no exception, and neither is one that does not exist."""
    assert len(ELSEWHERE) <= MOST_EXCEPTIONS
    for module, test in ELSEWHERE.items():
        assert (SOURCE / module).is_file(), module
        assert own_test(module) is None, f"{module} has tests of its own"
        assert (TESTS / test).is_file(), test
    for package, test in WHOLE.items():
        assert (TESTS / test).is_file(), test
        assert (SOURCE / package).is_dir() or (DEMO.parent / package).is_dir(), package


def test_neighbouring_tests_exist() -> None:
    """A module with listed neighbours exists and has more test files than those, each once."""
    for package, named in NEIGHBOURS.items():
        for name, others in named.items():
            module = package / f"{name}.py"
            assert (SOURCE / module).is_file(), module
            tests = find_tests(module)
            assert len(tests) == len(set(tests)) > len(others), module


def test_every_folder_of_tests_mirrors_a_package() -> None:
    """A test folder without a package of that name is one of the documented others."""
    others = {"project", "compat", "browser", "nodes"}
    for folder in (ROOT / "tests").rglob("*/"):
        relative = folder.relative_to(ROOT / "tests")
        if folder.name != "__pycache__" and relative.parts and relative.parts[0] not in others:
            source = DEMO.parent if relative.parts[0] == DEMO.name else SOURCE
            assert (source / relative).is_dir(), f"tests/{relative} mirrors nothing"
