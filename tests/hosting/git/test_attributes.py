"""The work patterns can make."""

import pytest

from holdfast.hosting.git.attributes import MOST_EFFORT, effort

PATH = b"assets/textures/characters/ships/a-rather-long-name-of-a-file.psd"
HOSTILE = b"*a*a*a**/*a*a*a**/*a*a*a**/b filter=lfs\n"


@pytest.mark.parametrize("pattern", [b"*.psd", b"assets/**/*.psd", b"**/textures/**/*.psd", b"a*b*c*d.psd", b"x"])
def test_what_people_write_is_cheap(pattern: bytes) -> None:
    """Hundreds of lines of it, and in deep directories."""
    assert effort((pattern + b" filter=lfs diff=lfs merge=lfs -text\n") * 300, PATH) < MOST_EFFORT
    assert effort(pattern + b" filter=lfs\n", PATH * 5) < MOST_EFFORT


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (HOSTILE, b"/".join([b"a" * 20] * 20)),
        (b"/**/**/a/**/aa/b filter=lfs\n", b"a/" * 1900 + b"c"),
        (b"*a**/b filter=lfs\n" * 50_000, b"a/" * 200 + b"c"),
        (b"*a" * 900 + b" filter=lfs\n", b"a" * 200),
    ],
)
def test_what_would_take_for_ever_is_known(content: bytes, path: bytes) -> None:
    """Before anybody tries."""
    assert effort(content, path) > MOST_EFFORT


def test_a_file_without_stars_is_no_effort() -> None:
    """However long it is."""
    assert effort(b"a.psd filter=lfs\n" * 10_000, PATH) == 0
