"""Files in multipart forms."""

from pathlib import Path

import pytest

from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.multipart import extract_file

FORM = "multipart/form-data; boundary=xyz"


def part(name: str, content: str, rest: str = "") -> str:
    """Write one part of a form."""
    return f'--xyz\r\nContent-Disposition: form-data; name="{name}"{rest}\r\n\r\n{content}\r\n'


def extract(tmp_path: Path, form: str, content_type: str = FORM) -> tuple[str, bytes]:
    """Extract the file of a form."""
    (tmp_path / "form").write_bytes(form.encode())
    name = extract_file(tmp_path / "form", content_type, "attachment", tmp_path / "file")
    return name, (tmp_path / "file").read_bytes()


def test_the_first_part_of_the_name_is_the_file(tmp_path: Path) -> None:
    """Other fields and a second part of the same name are ignored."""
    form = (
        part("x", "1")
        + part("attachment", "two", '; filename="a b.bin"')
        + part("attachment", "3")
        + "--xyz--\r\n"
    )
    assert extract(tmp_path, form) == ("a b.bin", b"two")


def test_a_file_larger_than_what_is_read_at_once_is_whole(tmp_path: Path) -> None:
    """A large file that contains the beginning of a boundary many times is extracted unchanged."""
    content = "\r\n--xy" * 500_000
    assert extract(tmp_path, part("attachment", content) + "--xyz--\r\n") == ("", content.encode())


@pytest.mark.parametrize(
    ("form", "content_type"),
    [
        (part("other", "1") + "--xyz--\r\n", FORM),
        ("nothing", FORM),
        (part("attachment", "1") + "--xyz--\r\n", "multipart/form-data"),
        (part("attachment", "1", "; x=" + "y" * 10_000) + "--xyz--\r\n", FORM),
    ],
)
def test_a_form_without_the_file_is_refused(tmp_path: Path, form: str, content_type: str) -> None:
    """A form without the file, without a boundary or with a huge part header is refused with 400."""
    with pytest.raises(ApiError) as excinfo:
        extract(tmp_path, form, content_type)
    assert excinfo.value.status == 400
