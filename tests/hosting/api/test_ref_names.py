"""Validation of the names of branches and tags in request bodies."""

from typing import Annotated

import msgspec
import pytest

from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.http.decoders import decode_body
from holdfast.hosting.http.errors import ApiError


class Named(msgspec.Struct, frozen=True):
    """A body with the name of a branch."""

    branch: Annotated[str, RefName] = ""


@pytest.mark.parametrize("name", ["", "main", "feature/x", "é"])
def test_names_that_git_accepts_are_taken(name: str) -> None:
    """Valid names of branches and an empty name are accepted."""
    assert decode_body(Named, msgspec.json.encode({"branch": name}), "application/json", "POST", {}).branch == name


@pytest.mark.parametrize("name", ["a..b", "a b", "@", "/a", "a.lock", "a~1"])
def test_other_names_are_refused_and_the_rule_is_named(name: str) -> None:
    """The error has the name of the rule that clients know, `GitRefName`."""
    with pytest.raises(ApiError, match=r"\[Branch\]: GitRefName"):
        decode_body(Named, msgspec.json.encode({"branch": name}), "application/json", "POST", {})
