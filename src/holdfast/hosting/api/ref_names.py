"""The names of branches and tags in request bodies."""

from typing import Final

from holdfast.hosting.git.refs import is_ref_name
from holdfast.hosting.http.decoders import rule

__all__ = ["RefName"]

# A field that must be empty, or a name that git accepts for a branch or tag.
RefName: Final = rule(is_ref_name, "GitRefName")
