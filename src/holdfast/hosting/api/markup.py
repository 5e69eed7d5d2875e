"""Markdown rendered to HTML, as the pages show it."""

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
# Links to this site; a `<` in a text is escaped, so only a tag begins with one.
SITE_LINK: Final = re.compile(r'(<(?:a|img)\b[^<>]*?\b(?:href|src)=")/(?!/)')
IN_REPOSITORY: Final = re.compile(r"/*([^/?#]+)/([^/?#]+)(?:[/?#].*)?", re.DOTALL)


class MarkdownOption(msgspec.Struct, frozen=True):
    """A text; in the modes `gfm` and `comment`, references are links in the repository of the context."""

    text: str = field(name="Text", default="")
    mode: Annotated[str, Meta(max_length=255)] = field(name="Mode", default="")
    context: Annotated[str, Meta(max_length=2000)] = field(name="Context", default="")
    wiki: bool = field(name="Wiki", default=False)


class MarkupOption(MarkdownOption, frozen=True):
    """A text; in the mode `file`, the path of the file decides what it is."""

    file_path: Annotated[str, Meta(max_length=4096)] = field(name="FilePath", default="")


def context_of(request: RequestContext, body: MarkdownOption) -> MarkdownContext:
    """Return what references in a text are resolved against: the repository that the context names."""
    if body.mode not in {"gfm", "comment", "file", "wiki"}:
        return NOWHERE
    match = IN_REPOSITORY.fullmatch(body.context.removeprefix(request.root))
    return NOWHERE if match is None else MarkdownContext(repository=f"/{match[1]}/{match[2]}")


def respond(request: RequestContext, text: str, around: MarkdownContext) -> RawResponse:
    """Render a text; links to this site are absolute, for programs that show it elsewhere."""
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
    """Render a body of Markdown to sanitized HTML."""
    return respond(request, upload.path.read_text("utf-8", "replace"), NOWHERE)


@endpoint("POST /markup", tag="miscellaneous", scope="misc", guards=(signed_in,), largest_body=LARGEST, slow=True)
def render_markup(request: RequestContext, body: MarkupOption) -> RawResponse:
    """Render a text to sanitized HTML; a file must be Markdown, all else is refused."""
    if body.mode == "file" and not is_markdown(body.file_path):
        raise ApiError(422, f"there is no renderer for {body.file_path!r}")
    return respond(request, body.text, context_of(request, body))
