"""The names of branches and tags in the bodies of requests."""

from typing import Final

from holdfast.hosting.git.refs import is_ref_name
from holdfast.hosting.http.decoders import rule

__all__ = ["RefName"]

# A field that must be a name git accepts for a branch or tag, when it is not empty.
RefName: Final = rule(is_ref_name, "GitRefName")
