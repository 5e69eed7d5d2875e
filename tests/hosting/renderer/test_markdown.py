"""Markdown rendering: references, links, sanitizing and limits."""

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from holdfast.hosting.renderer import markdown as module
from holdfast.hosting.renderer.markdown import NOWHERE, MarkdownContext, markdown
from holdfast.hosting.renderer.render_process import RENDERER, RenderBusy, RenderFailed

README = MarkdownContext(
    repository="/ada/notes",
    pages="/ada/notes/src/branch/main",
    files="/ada/notes/raw/branch/main",
    folder="docs",
    deeper=1,
    anchors="h",
)
PIECES = (
    *("<", ">", "a", "[", "](", ")", "`", "*", "_", "\n", "- ", "#1", "@b", "|", "-", '"', "'", "&", "![", "~~"),
    *("<a href=", "javascript:", "<script>", "<img src=x onerror=y>", "</p>", "https://e.example/", "    "),
)
ISSUE = MarkdownContext(repository="/ada/notes", deeper=2)


def addresses(html: str) -> list[str]:
    """Return the URLs of the links and images of a text."""
    return re.findall(r'(?:href|src)="([^"]*)"', html)


class Tags(HTMLParser):
    """Collects the tags and attributes of a text, and the elements that it closes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.closed: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a tag and its attributes."""
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Record an element that is closed."""
        self.closed.append(tag)


def read(html: str) -> Tags:
    """Return the tags of a text."""
    tags = Tags()
    tags.feed(html)
    return tags


def test_commonmark_with_tables_tasks_and_strikethrough() -> None:
    """Emphasis, strikethrough, tables, task lists and fenced code have their HTML elements."""
    markup = markdown(
        "*a* **b** ~~c~~\n\n| x | y |\n|:-:|--:|\n| 1 | 2 |\n\n- [ ] open\n- [x] done\n\n```py\nx\n```\n"
    )
    for part in (
        "<em>a</em> <strong>b</strong> <s>c</s>",
        '<td align="center">1</td>',
        '<code class="language-py">x\n</code>',
    ):
        assert part in markup
    assert '<pre tabindex="0">' in markup
    assert '<table tabindex="0">' in markup
    boxes = re.findall(r"<input ([^>]*)> (\w+)", markup)
    assert [("checked" in attributes, word) for attributes, word in boxes] == [(False, "open"), (True, "done")]
    assert all('aria-label="Task"' in attributes and "disabled" in attributes for attributes, _ in boxes)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("see #12.", "/ada/notes/issues/12"),
        ("(#12)", "/ada/notes/issues/12"),
        ("<abbr>x</abbr> #12", "/ada/notes/issues/12"),
        ("x</a> #12", "/ada/notes/issues/12"),
        ("as in bob/tools.x#3", "/bob/tools.x/issues/3"),
        ("thanks @bob_the.builder!", "/bob_the.builder"),
        ("since " + "0a" * 20, "/ada/notes/commit/" + "0a" * 20),
        ("at https://example.org/a_(b)).", "https://example.org/a_(b)"),
    ],
)
def test_users_issues_and_commits_are_linked(text: str, target: str) -> None:
    """References and plain URLs are linked without the punctuation around them."""
    assert addresses(markdown(text, ISSUE)) == [target]


@pytest.mark.parametrize(
    "text", ["`#12`", "a@example.org", "x#12", "#12a", "&#12;", "#0", "    @bob", "<a>@bob</a>", "http://"]
)
def test_text_similar_to_a_reference_is_not_linked(text: str) -> None:
    """References in code, e-mail addresses and parts of words are not linked."""
    assert addresses(markdown(text, ISSUE)) == []


def test_numbers_are_not_linked_without_a_repository() -> None:
    """Issue numbers and commit ids in a text without a repository are not linked."""
    assert addresses(markdown("#12 and " + "0a" * 20)) == []


def test_a_link_around_a_name_stays_one_link() -> None:
    """A reference in the text of a link is not linked, because links cannot be nested."""
    assert addresses(markdown("[in #4](https://example.org)", ISSUE)) == ["https://example.org"]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[x](other.md)", "/ada/notes/src/branch/main/docs/other.md"),
        ("[x](../a%20b.md?plain=1#top)", "/ada/notes/src/branch/main/a%20b.md?plain=1#top"),
        ("[x](/LICENSE)", "/ada/notes/src/branch/main/LICENSE"),
        ("[x](../../../../../admin)", "/ada/notes/src/branch/main/admin"),
        ("[x](#part)", "#h-part"),
        ("![x](a.png)", "/ada/notes/raw/branch/main/docs/a.png"),
        ('<img src="/logo.png">', "/ada/notes/raw/branch/main/logo.png"),
        ('<a href="b.md">b</a>', "/ada/notes/src/branch/main/docs/b.md"),
        ("#12", "/ada/notes/issues/12"),
    ],
)
def test_relative_addresses_begin_at_the_folder_of_the_text(text: str, target: str) -> None:
    """Relative URLs are resolved against the folder of the text and never leave the tree."""
    assert addresses(markdown(text, README)) == [target]


def test_images_of_other_hosts_are_links() -> None:
    """External images are not loaded, so that their host does not learn who reads the page."""
    image = markdown("![a cat](https://e.example/x.png)")
    assert '<a href="https://e.example/x.png" class="elsewhere"' in image
    assert addresses(image) == ["https://e.example/x.png"]
    badge = markdown("[![build](https://e.example/b.svg)](https://ci.example)")
    assert addresses(badge) == ["https://ci.example"]
    assert ">build</a>" in badge
    assert addresses(markdown('<img src="https://e.example/x.png" alt="cat"><img src="//e.example/y">')) == []


def heading_ids(text: str) -> list[str]:
    """Return the ids of the headings of a text."""
    return re.findall(r'<h\d id="([^"]*)"', markdown(text, README))


def test_headings_are_lowered_and_have_names() -> None:
    """Headings begin at level 2, because the page has its own first one."""
    markup = markdown("# A b!\n\n## A b\n\n###### c\n\n<h1 align=center>raw</h1>\n\nx <h1>y</h1>\n", README)
    assert re.findall(r"<h(\d)[^>]*>", markup) == ["2", "3", "6", "2", "2"]
    assert re.findall(r'id="([^"]*)"', markup) == ["h-a-b", "h-a-b-1", "h-c"]
    assert "id=" not in markdown("# A", ISSUE)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("# a\n# a\n# a-1\n# a", ["h-a", "h-a-1", "h-a-1-1", "h-a-2"]),
        ("# a-1\n# a\n# a", ["h-a-1", "h-a", "h-a-2"]),
        ("# `go` *on*", ["h-go-on"]),
        ("# :rocket: start", ["h-rocket-start"]),
        (f"# see {'ab' * 20}", [f"h-see-{'ab' * 20}"]),
        # Its vowel signs are marks, which belong to the letters.
        ("# \u0939\u093f\u0928\u094d\u0926\u0940", ["h-\u0939\u093f\u0928\u094d\u0926\u0940"]),
        ("# !\n# ?", ["h-section", "h-section-1"]),
    ],
)
def test_ids_of_headings_are_unique_and_those_that_writers_know_from_github(text: str, ids: list[str]) -> None:
    """The id of a heading is its text without punctuation; equal ones are numbered."""
    assert heading_ids(text) == ids


def test_a_heading_has_a_link_to_itself_that_is_no_part_of_its_name() -> None:
    """The link is beside the heading and named after it; a text whose headings have no ids has no such links."""
    markup = markdown("Tide *table* :rocket:\n====\n", README)
    assert '<h2 id="h-tide-table-rocket">Tide <em>table</em> \U0001f680</h2>' in markup
    (link,) = (attributes for tag, attributes in read(markup).found if tag == "a")
    assert (link["href"], link["class"]) == ("#h-tide-table-rocket", "permalink")
    assert link["aria-label"] == "Permalink: Tide table \U0001f680"
    assert "permalink" not in markdown("# A", ISSUE)


def test_the_accessible_name_of_a_link_is_its_text() -> None:
    """A text cannot give its links a name that differs from what they show."""
    assert "aria-label" not in markdown('<a href="https://e.example" aria-label="Home">x</a>', README)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[x](#tides)", "#h-tides"),
        ("[x](guide.md#tides)", "/ada/notes/src/branch/main/docs/guide.md#h-tides"),
        ("[x](guide.md?display=source#L3)", "/ada/notes/src/branch/main/docs/guide.md?display=source#L3"),
        ("[x](guide.py#L3)", "/ada/notes/src/branch/main/docs/guide.py#L3"),
    ],
)
def test_fragments_of_links_are_those_of_the_page(text: str, target: str) -> None:
    """A link to a heading, of this text or of another file, has the prefix of its id; one to a line has none."""
    assert addresses(markdown(text, README)) == [target]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        '<a href=" javascript:alert(1)">x</a>',
        '<a href="data:text/html,<script>alert(1)</script>">x</a>',
        "<svg><script>alert(1)</script></svg>",
        "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
        '<iframe src="/admin"></iframe>',
        '<form action="/logout" method=post><button>x</button></form>',
        '<div style="position:fixed" class="top" id="main">x</div>',
        '<a href="/x" target=_top onclick=alert(1)>x</a>',
        "<style>*{display:none}</style>",
        "<input type=password name=password autofocus>",
        '<meta http-equiv=refresh content="0;url=https://e.example">',
        "<base href=https://e.example>",
        "</div></main><h1>x</h1>",
    ],
)
def test_markup_is_sanitized(text: str) -> None:
    """Scripts, styles, forms, event handlers and ids of the page are removed."""
    assert_harmless(markdown(text, README))
    assert_harmless(markdown(f"- {text}", ISSUE))


def assert_harmless(created: str) -> None:
    """Check that HTML has no dangerous elements, attributes or URLs, and closes only elements of its own."""
    reader = read(created)
    assert Counter(reader.closed) <= Counter(tag for tag, _ in reader.found)
    for tag, attributes in reader.found:
        assert tag not in {"script", "style", "iframe", "form", "button", "svg", "math", "meta", "base", "object"}
        assert not {"style", "target", "name", "autofocus"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("id") or "h-").startswith("h-")
        address = attributes.get("href") or attributes.get("src") or ""
        assert re.match(r"(https?://|mailto:|/|#|[^:]*$)", address), address
        if tag == "input":
            assert attributes.get("type") == "checkbox"
            assert "disabled" in attributes


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(PIECES),
        max_size=40,
    ).map("".join)
)
def test_any_text_is_sanitized(text: str) -> None:
    """Any combination of hostile fragments is rendered to harmless markup."""
    assert_harmless(markdown(text, README))


@pytest.mark.parametrize("text", ["https://" + ")" * 60_000, "[" * 20_000, "<div>" * 2_000, "> " * 20_000])
def test_hostile_texts_are_rendered(text: str) -> None:
    """Deeply nested and very repetitive texts are rendered within the time limit and without an error."""
    assert "takes too long to render" not in markdown(text, README)


def test_of_a_very_long_text_the_beginning_is_shown() -> None:
    """A text over the limit is cut, with a note that it is too long to be shown."""
    markup = markdown("word " * 100, most=50)
    assert markup.count("word") == 10
    assert "too long to be shown" in markup


def test_rendered_text_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is rendered once for each context in which it is shown."""
    created: list[str] = []
    render = module.render

    def noted(text: str, around: MarkdownContext) -> str:
        created.append(text)
        return render(text, around)

    monkeypatch.setattr(module, "render", noted)
    for _ in range(3):
        assert markdown("once *only*") == "<p>once <em>only</em></p>\n"
    assert created == ["once *only*"]
    markdown("once *only*", MarkdownContext(deeper=1))
    assert len(created) == 2


def test_a_long_text_is_rendered_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long text is rendered by the render process, and the result is the same."""
    text = "- a **b**\n" * 500
    expected = module.render(text, NOWHERE)
    monkeypatch.setattr(module, "render", None)
    assert markdown(text) == expected


@pytest.mark.parametrize(("problem", "times"), [(RenderFailed, 1), (RenderBusy, 2)])
def test_a_text_that_times_out_is_shown_as_its_source(
    monkeypatch: pytest.MonkeyPatch, problem: type[Exception], times: int
) -> None:
    """A text that takes too long is escaped and shown as its source, with a note.

    It is not rendered again at the next view, unless the render process was only busy.
    """
    tries: list[str] = []

    def fail(kind: str, *_rest: object) -> None:
        tries.append(kind)
        raise problem

    monkeypatch.setattr(RENDERER, "run", fail)
    for _ in range(2):
        shown = markdown(f"<script>alert({problem.__name__!r})</script> *a* " + "b" * 3000)
        assert "takes too long to render" in shown
        assert "&lt;script&gt;" in shown
        assert "<script>" not in shown
        assert "<em>a</em>" not in shown
    assert len(tries) == times


class Counted(list[Token]):
    """A list of tokens that counts how often an item is read."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:
        self.looks += 1
        return super().__getitem__(at)


def test_a_task_list_takes_linear_time() -> None:
    """The number of tokens that are read grows linearly with the number of tasks.

    The usual plugin reads all items for each of them: fifteen thousand took 8 seconds at every view.
    """
    state = StateCore("- [ ] a\n" * 500, module.PARSER, {"around": NOWHERE})
    state.tokens = tokens = Counted()
    module.PARSER.core.process(state)
    assert sum(token.attrs.get("class") == "task-list-item" for token in tokens) == 500
    assert tokens.looks < 5 * len(tokens)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("- [ ] a", '<ul class="contains-task-list">\n<li class="task-list-item"><box>'),
        ("1. [x] a", '<ol class="contains-task-list">\n<li class="task-list-item"><box checked>'),
        (
            "- a\n  - [X] b",
            '<ul>\n<li>a\n<ul class="contains-task-list">\n<li class="task-list-item"><box checked>',
        ),
        ("- [ ]a", "<ul>\n<li>[ ]a</li>"),
        ("- [y] a", "<ul>\n<li>[y] a</li>"),
        ("[ ] a", "<p>[ ] a</p>"),
        ("- > [ ] a", "<ul>\n<li>\n<blockquote>\n<p>[ ] a</p>"),
    ],
)
def test_boxes_stand_at_the_start_of_list_items(text: str, html: str) -> None:
    """A checkbox is recognized only at the start of a list item, and only its list is a task list."""
    # The sanitiser writes the attributes in any order.
    boxes = re.sub(
        r"<input [^>]*>", lambda found: "<box checked>" if "checked" in found[0] else "<box>", markdown(text)
    )
    assert boxes.startswith(html)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "> [!NOTE]\n> Read *this*.\n>\n> And this.",
            (
                '<div class="alert alert-note">\n<p class="alert-title">Note</p>\n<p>Read <em>this</em>.</p>\n'
                "<p>And this.</p>\n</div>\n"
            ),
        ),
        ("> [!caution]", '<div class="alert alert-caution">\n<p class="alert-title">Caution</p>\n</div>\n'),
        (
            "> [!TIP]\n>\n> - one",
            '<div class="alert alert-tip">\n<p class="alert-title">Tip</p>\n<ul>\n<li>one</li>\n</ul>\n</div>\n',
        ),
        ("> [!NOTE] on the same line", "<blockquote>\n<p>[!NOTE] on the same line</p>\n</blockquote>\n"),
        ("> [!OTHER]\n> x", "<blockquote>\n<p>[!OTHER]\nx</p>\n</blockquote>\n"),
        (
            "> > [!NOTE]\n> > x",
            "<blockquote>\n<blockquote>\n<p>[!NOTE]\nx</p>\n</blockquote>\n</blockquote>\n",
        ),
        ("> x\n>\n> [!NOTE]", "<blockquote>\n<p>x</p>\n<p>[!NOTE]</p>\n</blockquote>\n"),
    ],
)
def test_quotations_with_a_marker_are_alerts(text: str, html: str) -> None:
    """The marker must be alone on the first line of an outermost quotation."""
    assert markdown(text) == html
