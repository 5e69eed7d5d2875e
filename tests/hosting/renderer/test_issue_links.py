"""Issues that a Markdown text links to."""

import pytest

from holdfast.hosting.errors import ParsingBusy
from holdfast.hosting.renderer import issue_links as subject
from holdfast.hosting.renderer.issue_links import issue_links, title_links
from holdfast.hosting.renderer.markdown import LONGEST, SMALL, MarkdownContext, markdown
from holdfast.hosting.renderer.render_process import PARSER_PROCESS, RenderBusy, RenderFailed

PLACE = ("ada", "ship")
ROOT = "https://git.example.org/host"


def linked_issues(text: str) -> list[str]:
    """Return the issues that a text links to."""
    return [f"{owner}/{name}#{number}" for owner, name, number in issue_links(text, PLACE, ROOT)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see #12", ["ada/ship#12"]),
        ("#2, #1 and #2 again", ["ada/ship#2", "ada/ship#1"]),
        ("Bob/my.boat#3!", ["Bob/my.boat#3"]),
        ("**#1** and > #2\n\n> quoted #3\n\n- [ ] #4", [f"ada/ship#{number}" for number in (1, 2, 3, 4)]),
        (
            "| a |\n|---|\n| #5 |\n\n# About #6\n\nA note.[^1]\n\n[^1]: #7",
            [f"ada/ship#{number}" for number in (5, 6, 7)],
        ),
        ("`#1` and\n\n```\n#2\n```\n\n    #3\n", []),
        ("<!-- #1 --> &#39; #0 a#1 #1b <a href='/x'>#2</a> [#3](https://example.org)", []),
        ("$#1$", []),
        (f"{ROOT}/ada/ship/issues/4.", ["ada/ship#4"]),
        (f"<{ROOT}/Bob/boat/pulls/5/files#diff> and [that]({ROOT}/a/b/issues/6?page=2)", ["Bob/boat#5", "a/b#6"]),
        ("HTTPS://GIT.example.org/host/a/b/issues/6", []),
        ("https://GIT.example.org/host/a/b/issues/6", ["a/b#6"]),
        ("https://git.example.org/a/b/issues/6 https://git.example.org/hosting/a/b/issues/6", []),
        (f"{ROOT}/a/b/issues/0 {ROOT}/a/b/commit/1 {ROOT}/a/b/issues/1234567890", []),
        (f"`{ROOT}/ada/ship/issues/4`", []),
    ],
)
def test_a_text_mentions_what_it_links_to(text: str, expected: list[str]) -> None:
    """References in code and in links to other addresses do not count, and each issue counts once."""
    assert linked_issues(text) == expected


def test_links_are_those_of_the_page() -> None:
    """The references that are found are exactly those that the rendered page links to."""
    text = "#1 `#2` a/b#3 ~~#4~~ [#5](x) #6x (#7) #8, @ada/x#9 \\#10 http://a/#11"
    html = markdown(text, MarkdownContext(repository="/ada/ship"))
    numbers = [name.rpartition("#")[2] for name in linked_issues(text)]
    assert numbers == [part.split('"')[0] for part in html.split("/issues/")[1:]]
    assert numbers == ["1", "3", "4", "7", "8", "10"]


def test_a_title_is_not_parsed_as_markdown() -> None:
    """References and URLs in a title are found even between backticks."""
    titles = {"Like #1 and `b/c#2`": [("ada", "ship", 1), ("b", "c", 2)], "Nothing": [], f"{ROOT}/a/b/pulls/3": 3}
    for title, expected in titles.items():
        links = title_links(title, PLACE, ROOT)
        assert links == ([("a", "b", 3)] if expected == 3 else expected)


def test_a_long_text_is_parsed_in_the_process_for_that() -> None:
    """A long text has the same references, and of a very long one only the beginning is parsed."""
    text = "#1 `#2` a/b#3 \udc80" + "word " * SMALL
    assert linked_issues(text) == ["ada/ship#1", "a/b#3"]
    assert linked_issues("x" * (LONGEST - 3) + " #1") == ["ada/ship#1"]
    assert linked_issues("x" * LONGEST + " #1") == []
    assert linked_issues("#2 " + "x" * LONGEST + " #1") == ["ada/ship#2"]


def test_a_text_that_times_out_has_no_mentions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that takes too long is shown as its source, which has no links."""

    def fail(*_arguments: object) -> None:
        raise RenderFailed

    monkeypatch.setattr(PARSER_PROCESS, "run", fail)
    assert linked_issues("#1 " * SMALL) == []
    assert linked_issues("#1") == ["ada/ship#1"]


def test_a_long_text_is_refused_if_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text whose references cannot be determined now is not stored without them."""

    def fail(*_arguments: object) -> None:
        raise RenderBusy

    monkeypatch.setattr(PARSER_PROCESS, "run", fail)
    with pytest.raises(ParsingBusy):
        issue_links("#1 " * SMALL, PLACE, ROOT)
    assert linked_issues("#1") == ["ada/ship#1"]


def test_a_text_without_a_mention_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text without a possible reference is not given to the Markdown parser."""
    monkeypatch.setattr(subject, "PARSER", None)
    monkeypatch.setattr(PARSER_PROCESS, "run", None)
    assert linked_issues("# Heading\n\nA text about nothing: #a, # 1, /issues and nr. 3\n" * 500) == []
