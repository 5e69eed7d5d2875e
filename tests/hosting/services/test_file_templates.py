"""Templates of licenses, .gitignore files and labels."""

import pytest

from holdfast.hosting.errors import InvalidValue, NoSuchTemplate
from holdfast.hosting.services import file_templates
from holdfast.hosting.store.labels import check_color


def test_gitignore_files_are_joined_once_each() -> None:
    """The templates are in the order of the request, and a name that is a path is refused."""
    joined = file_templates.join_gitignores("Python, Go,Python")
    assert joined.count("# ---> ") == 2
    assert joined.index("# ---> Python") < joined.index("# ---> Go")
    with pytest.raises(InvalidValue):
        file_templates.join_gitignores("Python,../Python")


def test_a_license_has_the_year_and_its_holder() -> None:
    """The year and the holder replace the placeholders of each license, and backslashes in a name are kept."""
    for key in ("MIT", "BSD-3-Clause", "Apache-2.0"):
        text = file_templates.fill_license(key, r"Ada \1 & Co", 0)
        assert "1970" in text
        assert r"Ada \1 & Co" in text
    with pytest.raises(InvalidValue):
        file_templates.fill_license("none", "Ada", 0)


def test_every_license_has_a_text() -> None:
    """Each of the more than 100 license templates can be read and is not empty."""
    assert len(file_templates.licenses()) > 100
    for license_template in file_templates.licenses():
        assert file_templates.license_text(license_template.key)[1].strip()


def test_the_labels_of_a_set_are_valid() -> None:
    """The labels of a set have valid colours and unique names, and an unknown set is an error."""
    for chosen in file_templates.LABEL_SETS.values():
        assert [check_color(item.color) for item in chosen] == [item.color for item in chosen]
        assert len({item.name for item in chosen}) == len(chosen)
    with pytest.raises(NoSuchTemplate):
        file_templates.label_set("none")
