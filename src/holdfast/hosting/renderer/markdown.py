"""Renders Markdown to sanitized HTML.

CommonMark with tables, task lists, strikethrough, footnotes, alerts, formulas and emoji. Inline HTML is limited to
elements that format text. The sanitizer runs last, so the output of the steps before it need not be trusted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from posixpath import normpath
from typing import Final
from unicodedata import category
from urllib.parse import quote, unquote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape
from mdit_py_plugins.footnote import footnote_plugin

from holdfast.hosting.renderer.code_blocks import with_highlighted_blocks
from holdfast.hosting.renderer.emoji import with_emoji
from holdfast.hosting.renderer.formulas import formulas_plugin
from holdfast.hosting.renderer.render_process import CACHE, RENDERER, RenderBusy, RenderFailed, content_key

__all__ = ["NOWHERE", "MarkdownContext", "is_markdown", "markdown", "render", "sanitized"]

LONGEST: Final = 120_000
# No text of this length takes more than some tens of milliseconds, less than the overhead of the render process.
SMALL: Final = 2_000
FILE_NAME: Final = re.compile(r"\.(?:md|markdown|mdown|mkd)\Z", re.IGNORECASE)
SCHEMES: Final = frozenset({"http", "https", "mailto"})
# The URL scheme of generated links to this site; URLs written by users are relative to their tree.
HERE: Final = "holdfast"
ALERTS: Final = ("note", "tip", "important", "warning", "caution")
CLASSES: Final = {
    "a": {"mention", "elsewhere", "reference", "permalink"},
    "div": {"alert", "heading", "math", *(f"alert-{kind}" for kind in ALERTS)},
    "li": {"task-list-item"},
    "ol": {"contains-task-list"},
    "p": {"alert-title"},
    "span": {"math"},
    "ul": {"contains-task-list"},
}
ATTRIBUTES: Final[dict[str, set[str]]] = {
    "a": {"href", "id", "title", "aria-label"},
    "img": {"src", "alt", "title", "width", "height", "align"},
    "code": {"class"},
    "details": {"open"},
    "input": {"checked"},
    "li": {"id", "value"},
    "ol": {"start", "type"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
    **{tag: {"align"} for tag in ("div", "p")},
    **{tag: {"align", "id"} for tag in ("h1", "h2", "h3", "h4", "h5", "h6")},
}
# fmt: off
PLAIN: Final = (
    "abbr", "b", "blockquote", "br", "caption", "center", "cite", "dd", "del", "dfn", "dl", "dt", "em", "hr",
    "i", "ins", "kbd", "mark", "pre", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "summary",
    "sup", "table", "tbody", "tfoot", "thead", "tr", "tt", "u", "ul", "var",
)
# fmt: on
NAME: Final = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
REFERENCE: Final = re.compile(
    rf"(?<![\w/@#&.-])(?:"
    rf"(?P<address>https?://[^\s<>\"'`]{{1,2000}})"
    rf"|@(?P<mention>{NAME})"
    rf"|(?P<place>{NAME}/{NAME})?#(?P<number>[1-9]\d{{0,8}})(?![\w-])"
    rf"|(?P<commit>[0-9a-f]{{40}})(?![\w-])"
    rf")"
)
ALERT: Final = re.compile(rf"\[!({'|'.join(ALERTS)})\]", re.IGNORECASE)
TASK: Final = re.compile(r"\[([ xX])\][ \t\n\v\f\r]")
ALIGNED: Final = re.compile(r"text-align:(left|right|center)")
HEADING_TAG: Final = re.compile(r"<(/?)h([1-6])(?=[\s>/])", re.IGNORECASE)
LINK_TAG: Final = re.compile(r"<a[\s>]", re.IGNORECASE)
LINK_END: Final = re.compile(r"</a[\s>]", re.IGNORECASE)
NOT_IN_SLUG: Final = re.compile(r"[^\w\- ]")
NOTE: Final = re.compile(r"fn(?:ref)?\d{1,6}(?::\d{1,6})?")
# The accessible name of a link to a heading; texts can give their own links no other one.
PERMALINK: Final = "Permalink: "
LANGUAGE: Final = re.compile(r"language-[\w+#.-]{1,40}")


@dataclass(frozen=True, slots=True)
class MarkdownContext:
    """The context that references and relative links in a text are resolved against."""

    repository: str = ""
    """The path of the repository's page; if set, `#12` and commit ids become links."""
    pages: str = ""
    """The path of the pages of the tree's files; if set, relative links are resolved against it."""
    files: str = ""
    """The path of the raw files of the tree, for images."""
    folder: str = ""
    """The folder of the text in the tree, against which relative URLs are resolved."""
    deeper: int = 0
    """The number of levels by which headings are lowered, to fit into the outline of the page."""
    anchors: str = ""
    """The prefix of heading anchors; without it headings have none."""


NOWHERE: Final = MarkdownContext()


def is_markdown(name: str) -> bool:
    """Return whether a file name is that of a Markdown file."""
    return FILE_NAME.search(name) is not None


def markdown(text: str, around: MarkdownContext = NOWHERE, *, most: int = LONGEST) -> Markup:
    """Render a text to HTML; a very long text is truncated, with a note.

    The result is cached with its context. Long texts are rendered in the render process with a budget; beyond it
    the text is shown plain.
    """
    excerpt = text[:most]
    key = content_key("markdown", excerpt, around)
    html: str | None = CACHE.get(key)
    if html is None:
        try:
            html = render(excerpt, around) if len(excerpt) <= SMALL else render_in_process(excerpt, around)
        except RenderBusy:
            # Not cached, since rendering may succeed next time.
            return plain(excerpt)
        except RenderFailed:
            html = str(plain(excerpt))
        try:
            html = with_highlighted_blocks(html)
        except RenderBusy:
            return Markup(html)  # noqa: S704  # sanitized by nh3
        CACHE.put(key, html, len(html) + len(excerpt) // 8 + 500)
    if len(text) > len(excerpt):
        html += "<p><em>There is more, but it is too long to be shown here.</em></p>"
    # It came from the sanitizer, or was escaped.
    return Markup(html)  # noqa: S704  # sanitized by nh3


def render_in_process(text: str, around: MarkdownContext) -> str:
    """Render a text in the render process."""
    html = RENDERER.run("markdown", text.encode("utf-8", "replace").decode(), around)
    return str(html)


def render(text: str, around: MarkdownContext) -> str:
    """Render a text to sanitized HTML, without a time limit."""
    return sanitizer(around).clean(PARSER.render(text, {"around": around}))


def sanitized(html: str, around: MarkdownContext) -> Markup:
    """Sanitize untrusted HTML to the elements and attributes allowed in Markdown."""
    return Markup(sanitizer(around).clean(html))  # noqa: S704  # sanitized by nh3


def plain(text: str) -> Markup:
    """Return a text escaped, for one that cannot be rendered in time."""
    return Markup(
        "<p><em>This text takes too long to render, so it is shown as it was written.</em></p>"
        '<pre tabindex="0">%s</pre>'
    ) % escape(text)


def resolve_url(address: str, around: MarkdownContext, *, is_image: bool) -> str | None:
    """Resolve a URL in a text; None if it is not allowed."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return None
    if parts.scheme == HERE and not parts.netloc and not is_image:
        return f"/{parts.path.lstrip('/')}"
    if parts.scheme or parts.netloc or address.startswith(("//", "\\", "/\\")):
        # An image of another host would disclose the reader to that host, and the CSP blocks it.
        return None if is_image or parts.scheme.lower() not in SCHEMES else address
    if not parts.path:
        anchor = f"{around.anchors}-" if around.anchors and parts.fragment else ""
        return f"#{anchor}{parts.fragment}" if parts.fragment else address
    tree = around.files if is_image else around.pages
    if not tree:
        return address
    # `normpath` of an absolute path cannot leave the tree, whatever the number of `..` components.
    path = normpath(f"/{'' if parts.path.startswith('/') else around.folder}/{unquote(parts.path)}").lstrip("/")
    tail = f"?{parts.query}" if parts.query else ""
    if parts.fragment:
        # With a query, it is the source of the file that is shown, with numbers of lines instead of headings.
        anchor = f"{around.anchors}-" if around.anchors and is_markdown(path) and not tail else ""
        tail += f"#{anchor}{parts.fragment}"
    return f"{tree}/{quote(path)}{tail}"


@lru_cache(maxsize=64)
def sanitizer(around: MarkdownContext) -> nh3.Cleaner:
    """Return the sanitizer for a context."""

    def allowed(tag: str, attribute: str, value: str) -> str | None:
        if attribute == "href":
            return resolve_url(value, around, is_image=False)
        if attribute == "src":
            return resolve_url(value, around, is_image=True)
        if attribute == "class" and tag == "code":
            return value if LANGUAGE.fullmatch(value) else None
        if attribute == "aria-label" and tag == "a":
            return value if value.startswith(PERMALINK) else None
        if attribute == "id":
            # Links within the text get the same prefix.
            anchor = f"{around.anchors}-{value}" if NOTE.fullmatch(value) else value
            return anchor if around.anchors and anchor.startswith(f"{around.anchors}-") else None
        return value

    return nh3.Cleaner(
        tags={*PLAIN, *ATTRIBUTES},
        attributes=ATTRIBUTES,
        attribute_filter=allowed,
        allowed_classes=CLASSES,
        clean_content_tags={"script", "style", "title", "textarea", "iframe", "noscript", "svg", "math"},
        set_tag_attribute_values={
            "input": {"type": "checkbox", "disabled": "", "aria-label": "Task"},
            # They scroll horizontally if they are wide, which must be possible with the keyboard.
            **{tag: {"tabindex": "0"} for tag in ("pre", "table")},
        },
        url_schemes={*SCHEMES, HERE},
        link_rel="nofollow ugc noopener",
    )


def references(text: str, around: MarkdownContext) -> Iterator[tuple[str, str, str]]:
    """Split a text at references: the text, the target, and the class of the link."""
    position = 0
    for match in REFERENCE.finditer(text):
        start, end = match.span()
        written, kind = match[0], ""
        if match["address"]:
            written = strip_punctuation(match["address"])
            end = start + len(written)
            target = written
        elif match["mention"]:
            target, kind = f"{HERE}:/{match['mention']}", "mention"
        elif match["place"]:
            target, kind = f"{HERE}:/{match['place']}/issues/{match['number']}", "reference"
        elif not around.repository:
            continue
        elif match["commit"]:
            target, kind = f"{HERE}:{around.repository}/commit/{match['commit']}", "reference"
            written = match["commit"][:10]
        else:
            target, kind = f"{HERE}:{around.repository}/issues/{match['number']}", "reference"
        if start > position:
            yield text[position:start], "", ""
        yield written, target, kind
        position = end
    if position < len(text):
        yield text[position:], "", ""


def strip_punctuation(address: str) -> str:
    """Return a URL without trailing punctuation of the sentence."""
    while address and address[-1] in ".,;:!?*_~)]}":
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        address = address[:-1]
    return address


def link_tokens(text: str, target: str, kind: str, level: int) -> list[Token]:
    """Return the tokens of a link."""
    opening = Token("link_open", "a", 1, {"href": target, **({"class": kind} if kind else {})}, level=level)
    return [
        opening,
        Token("text", "", 0, content=text, level=level + 1),
        Token("link_close", "a", -1, level=level),
    ]


def link_references(children: list[Token], around: MarkdownContext) -> list[Token]:
    """Link references in text outside of links, replace emoji, and turn images of other hosts into links."""
    linked: list[Token] = []
    links = 0
    for token in children:
        if token.type == "html_inline":
            token.content = shift_headings(token.content, around)
        if token.type == "link_open" or (token.type == "html_inline" and LINK_TAG.match(token.content)):
            links += 1
        elif token.type == "link_close" or (token.type == "html_inline" and LINK_END.match(token.content)):
            links = max(links - 1, 0)
        if token.type == "image":
            linked += image_or_link(token, around, inside=links > 0)
        elif token.type == "text" and not links:
            for text, target, kind in references(token.content, around):
                linked += (
                    link_tokens(text, target, kind, token.level)
                    if target
                    else [Token("text", "", 0, content=with_emoji(text), level=token.level)]
                )
        else:
            if token.type == "text":
                token.content = with_emoji(token.content)
            linked.append(token)
    return linked


def image_or_link(token: Token, around: MarkdownContext, *, inside: bool) -> list[Token]:
    """Keep an image of this site; one of another host becomes a link, or its alternative text inside of a link."""
    address = str(token.attrs.get("src", ""))
    if resolve_url(address, around, is_image=True) is not None:
        return [token]
    label = token.content or address
    return (
        [Token("text", "", 0, content=label)] if inside else link_tokens(label, address, "elsewhere", token.level)
    )


def heading_slug(heading: str, taken: dict[str, int]) -> str:
    """Return the fragment that identifies a heading, formed as on GitHub: unique in the text, and never empty."""
    slug = NOT_IN_SLUG.sub(mark_or_nothing, heading.strip().lower()).replace(" ", "-") or "section"
    unique = slug
    while unique in taken:
        taken[slug] += 1
        unique = f"{slug}-{taken[slug]}"
    taken[unique] = 0
    return unique


def mark_or_nothing(character: re.Match[str]) -> str:
    """Return a combining mark, which belongs to its letter, and nothing for any other character."""
    return character[0] if category(character[0]).startswith("M") else ""


def plain_heading(inline: Token) -> str:
    """Return the text of a heading without its formatting."""
    return "".join(child.content for child in inline.children or () if child.type in {"text", "code_inline"})


def shifted_level(level: str, around: MarkdownContext) -> str:
    """Return the level of a heading on the page."""
    return str(min(int(level) + around.deeper, 6))


def shift_headings(html: str, around: MarkdownContext) -> str:
    """Lower the headings in an HTML block."""
    return HEADING_TAG.sub(lambda tag: f"<{tag[1]}h{shifted_level(tag[2], around)}", html)


def apply_context(state: StateCore) -> None:
    """Apply the context to a parsed text."""
    around: MarkdownContext = state.env["around"]
    if around.anchors:
        state.tokens = with_permalinks(state.tokens, around.anchors)
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{shifted_level(token.tag[1:], around)}"
        elif token.type in {"th_open", "td_open"}:
            aligned = ALIGNED.fullmatch(str(token.attrs.pop("style", "")))
            if aligned:
                token.attrs["align"] = aligned[1]
        elif token.type == "html_block":
            token.content = shift_headings(token.content, around)
        elif token.type == "inline":
            token.children = link_references(token.children or [], around)


def with_permalinks(tokens: list[Token], anchors: str) -> list[Token]:
    """Return the tokens with an id for each heading, and a link to it beside it, which is no part of its name."""
    linked: list[Token] = []
    taken: dict[str, int] = {}
    slug = ""
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            slug = heading_slug(plain_heading(tokens[place + 1]), taken)
            token.attrSet("id", f"{anchors}-{slug}")
            linked += [Token("heading_group_open", "div", 1, {"class": "heading"}, block=True), token]
        elif token.type == "heading_close":
            label = f"{PERMALINK}{with_emoji(plain_heading(tokens[place - 1]))}"
            # The sanitizer adds the prefix to the fragment.
            link: dict[str, str | int | float] = {"class": "permalink", "href": f"#{slug}", "aria-label": label}
            linked += [
                token,
                Token("link_open", "a", 1, link),
                Token("link_close", "a", -1),
                Token("heading_group_close", "div", -1, block=True),
            ]
        else:
            linked.append(token)
    return linked


def mark_tasks(state: StateCore) -> None:
    """Turn `[ ]` and `[x]` at the start of list items into checkboxes.

    The plugin for this searches each item's list among all tokens before it, which takes quadratic time.
    """
    lists: list[Token] = []
    tokens = state.tokens
    for place, token in enumerate(tokens):
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            lists.append(token)
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            lists.pop()
        elif (
            token.type == "inline"
            and place >= 2
            and tokens[place - 2].type == "list_item_open"
            and token.children
            and token.children[0].type == "text"
            and (match := TASK.match(token.children[0].content))
        ):
            checked = "" if match[1] == " " else ' checked=""'
            token.children[0].content = token.children[0].content[3:]
            token.children.insert(0, Token("html_inline", "", 0, content=f'<input type="checkbox"{checked}>'))
            tokens[place - 2].attrSet("class", "task-list-item")
            lists[-1].attrSet("class", "contains-task-list")


def mark_alerts(state: StateCore) -> None:
    """Turn block quotes that begin with a line such as `[!NOTE]` into alerts; only outermost ones."""
    tokens: list[Token] = []
    opening: Token | None = None
    position = 0
    while position < len(state.tokens):
        token = state.tokens[position]
        tokens.append(token)
        position += 1
        if token.type == "blockquote_open" and token.level == 0:
            kind = alert_kind(state.tokens[position : position + 2])
            opening = token if kind else None
            if kind:
                token.tag = "div"
                token.attrSet("class", f"alert alert-{kind}")
                tokens += title_tokens(kind.capitalize())
                position = after_marker(state.tokens, position)
        elif token.type == "blockquote_close" and token.level == 0 and opening is not None:
            token.tag = "div"
            opening = None
    state.tokens = tokens


def alert_kind(tokens: list[Token]) -> str:
    """Return the kind of alert that a block quote begins with; empty if there is none."""
    if [token.type for token in tokens] != ["paragraph_open", "inline"]:
        return ""
    marker, _, _ = tokens[1].content.partition("\n")
    match = ALERT.fullmatch(marker.strip())
    return match[1].lower() if match else ""


def title_tokens(title: str) -> list[Token]:
    """Return the paragraph with the title of an alert."""
    text = Token("text", "", 0, content=title)
    return [
        Token("paragraph_open", "p", 1, {"class": "alert-title"}, level=1, block=True),
        Token("inline", "", 0, content=title, children=[text], level=2, block=True),
        Token("paragraph_close", "p", -1, level=1, block=True),
    ]


def after_marker(tokens: list[Token], position: int) -> int:
    """Remove the marker of an alert from its paragraph, and return the position of the rest."""
    inline = tokens[position + 1]
    children = inline.children or []
    end = next((index for index, child in enumerate(children) if child.type in {"softbreak", "hardbreak"}), None)
    if end is None:
        # The paragraph consists of the marker only.
        return position + 3
    inline.children = children[end + 1 :]
    return position


def parser() -> MarkdownIt:
    """Build the parser."""
    markdown_it = MarkdownIt("commonmark", {"xhtmlOut": False}).enable(["table", "strikethrough"])
    markdown_it.core.ruler.after("inline", "task_lists", mark_tasks)
    markdown_it.core.ruler.after("inline", "alerts", mark_alerts)
    markdown_it.use(footnote_plugin, inline=False)
    markdown_it.use(formulas_plugin)
    markdown_it.core.ruler.push("fit_in", apply_context)
    return markdown_it


PARSER: Final = parser()
