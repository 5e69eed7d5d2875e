"""Rendering of Markdown to HTML, as on the website."""

import re
from typing import Annotated, Final

import msgspec
from msgspec import Meta, field

from holdfast.hosting.guards import signed_in
from holdfast.hosting.http.body import Upload
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.renderer.markdown import NOWHERE, MarkdownContext, is_markdown, markdown
from holdfast.hosting.request_context import RequestContext

__all__ = ["render_markdown", "render_markup", "render_raw_markdown"]

LARGEST: Final = 1 << 20
HTML: Final = "text/html; charset=utf-8"
# Links to this site; `<` in text is escaped, so a `<` always starts a tag.
SITE_LINK: Final = re.compile(r'(<(?:a|img)\b[^<>]*?\b(?:href|src)=")/(?!/)')
IN_REPOSITORY: Final = re.compile(r"/*([^/?#]+)/([^/?#]+)(?:[/?#].*)?", re.DOTALL)


class MarkdownOption(msgspec.Struct, frozen=True):
    """A text; in the modes `gfm` and `comment`, references become links to the repository of the context."""

    text: str = field(name="Text", default="")
    mode: Annotated[str, Meta(max_length=255)] = field(name="Mode", default="")
    context: Annotated[str, Meta(max_length=2000)] = field(name="Context", default="")
    wiki: bool = field(name="Wiki", default=False)


class MarkupOption(MarkdownOption, frozen=True):
    """A text; in the mode `file`, the file path determines the format."""

    file_path: Annotated[str, Meta(max_length=4096)] = field(name="FilePath", default="")


def context_of(request: RequestContext, body: MarkdownOption) -> MarkdownContext:
    """Return the context for resolving references in a text: the named repository."""
    if body.mode not in {"gfm", "comment", "file", "wiki"}:
        return NOWHERE
    match = IN_REPOSITORY.fullmatch(body.context.removeprefix(request.root))
    return NOWHERE if match is None else MarkdownContext(repository=f"/{match[1]}/{match[2]}")


def respond(request: RequestContext, text: str, around: MarkdownContext) -> RawResponse:
    """Render a text; links to this site are absolute, for display by other programs."""
    html = SITE_LINK.sub(lambda link: f"{link[1]}{request.root}/", str(markdown(text, around)))
    return RawResponse(html.encode("utf-8", "replace"), HTML)


@endpoint(
    "POST /markdown", tag="miscellaneous", scope="misc", guards=(signed_in,), largest_body=LARGEST, slow=True
)
def render_markdown(request: RequestContext, body: MarkdownOption) -> RawResponse:
    """Render Markdown to sanitized HTML."""
    return respond(request, body.text, context_of(request, body))


@endpoint(
    "POST /markdown/raw", tag="miscellaneous", scope="misc", guards=(signed_in,), largest_body=LARGEST, slow=True
)
def render_raw_markdown(request: RequestContext, upload: Upload) -> RawResponse:
    """Render a request body of raw Markdown to sanitized HTML."""
    return respond(request, upload.path.read_text("utf-8", "replace"), NOWHERE)


@endpoint("POST /markup", tag="miscellaneous", scope="misc", guards=(signed_in,), largest_body=LARGEST, slow=True)
def render_markup(request: RequestContext, body: MarkupOption) -> RawResponse:
    """Render a text to sanitized HTML; of files, only Markdown is supported."""
    if body.mode == "file" and not is_markdown(body.file_path):
        raise ApiError(422, f"there is no renderer for {body.file_path!r}")
    return respond(request, body.text, context_of(request, body))
