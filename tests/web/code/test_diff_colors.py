"""Syntax highlighting of diffs."""

import re
from html import unescape

import pytest

from holdfast.hosting.renderer.render_process import CACHE, RENDERER, RenderBusy, RenderFailed
from holdfast.web.code import diff_colors
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor
from tests.web.code.page_helpers import NOTES_URL, commit_and_push

TAG = re.compile(r"<[^>]*>")
ROW = re.compile(r'<td class="t">(.*?)</td></tr>', re.DOTALL)
COMMENT = '"""\nA long comment,\nwith a for loop\n'
PROGRAM = COMMENT + "".join(f"line {number}\n" for number in range(20)) + 'def last\n"""\nx = 1\n'


def commit_page(clients: ServiceClients, git: Git, files: dict[str, str], **query: str) -> str:
    """Commit files and return the page of the commit."""
    for name, content in files.items():
        (git.folder / name).write_text(content, newline="")
    page = visitor(clients).get(f"{NOTES_URL}/commit/{commit_and_push(git)}", params=query)
    assert page.status_code == 200
    return page.text


def test_both_sides_of_a_diff_are_highlighted_with_their_changes_marked(clients: ServiceClients, git: Git) -> None:
    """Deleted and added lines have the colours of their own version, in both views."""
    commit_page(clients, git, {"tide.py": 'if high:\n    print("a tide")\nlow\n'})
    files = {"tide.py": 'if high:\n    print("a low tide")\nlow\n'}
    page = commit_page(clients, git, files)
    old = '    <span class="b">print</span>(<span class="s">&#34;</span><span class="s">a tide</span>'
    new = old.replace("a tide", 'a </span><mark><span class="s">low </span></mark><span class="s">tide')
    assert '  <span class="k">if</span> high:</td>' in page
    assert f"- {old}" in page
    assert f"+ {new}" in page
    split = page.partition('?view=split"')[0].rpartition('href="')[2]
    other = visitor(clients).get(f"{split}?view=split").text
    assert '<td class="t "><span class="k">if</span> high:</td>' in other
    assert f'<td class="t gone">{old}' in other
    assert f'<td class="t added">{new}' in other


def test_a_hunk_inside_a_comment_is_highlighted_as_one(clients: ServiceClients, git: Git) -> None:
    """Short files are highlighted as a whole: words in a comment that began before a hunk are no keywords."""
    commit_page(clients, git, {"tide.py": PROGRAM})
    page = commit_page(clients, git, {"tide.py": PROGRAM.replace("line 10\n", "for in while\n")})
    assert '+ <span class="s">for in while</span></td>' in page


def test_only_the_shown_lines_of_long_files_are_highlighted(
    clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file beyond the limit is not sent to the render process, only its hunks are, each by itself."""
    sent: list[tuple[str, str]] = []
    run = RENDERER.run

    def recorded(kind: str, texts: list[tuple[str, str]]) -> object:
        sent.extend(texts)
        return run(kind, texts)

    lines = [f"x{number} = {number}\n" for number in range(20_000)]
    commit_page(clients, git, {"long.py": "".join(lines)})
    CACHE.clear()
    monkeypatch.setattr(RENDERER, "run", recorded)
    lines[50], lines[15_000] = "def a(): pass\n", "def b(): pass\n"
    page = commit_page(clients, git, {"long.py": "".join(lines)})
    assert page.count('+ <span class="k">def</span> <span class="f">') == 2
    assert [text.count("\n") for _, text in sent] == [7, 7, 7, 7]
    assert sorted(text.split("\n")[3] for _, text in sent) == [
        "def a(): pass",
        "def b(): pass",
        "x15000 = 15000",
        "x50 = 50",
    ]


def test_highlighted_diffs_are_cached_but_not_while_the_process_is_busy(
    clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page shows plain lines if it has to, and colours when it can; what failed is not tried at every view."""
    tries: list[type[Exception]] = []
    commit_page(clients, git, {"a.py": "x = 1\n"})
    (git.folder / "a.py").write_text("if x: pass\n")
    at = f"{NOTES_URL}/commit/{commit_and_push(git)}"
    site = visitor(clients)
    run = RENDERER.run

    def refuse(error: type[Exception]) -> None:
        def raised(_kind: str, *_arguments: object) -> object:
            tries.append(error)
            raise error

        monkeypatch.setattr(RENDERER, "run", raised)

    CACHE.clear()
    for error in (RenderBusy, RenderFailed):
        refuse(error)
        for _ in range(2):
            assert "+ if x: pass</td>" in site.get(at).text
    assert tries == [RenderBusy, RenderBusy, RenderFailed]
    CACHE.clear()
    monkeypatch.setattr(RENDERER, "run", run)
    highlighted = '+ <span class="k">if</span> x: <span class="k">pass</span></td>'
    assert highlighted in site.get(at).text
    refuse(RenderFailed)
    assert highlighted in site.get(at).text


def shown_lines(page: str) -> list[str]:
    """Return the lines of a diff without their markup."""
    return [unescape(TAG.sub("", row)) for row in ROW.findall(page)]


def test_no_text_is_changed_and_pages_stay_small(clients: ServiceClients, git: Git) -> None:
    """Text that lexers would change is plain, and what highlighting adds to a page is limited."""
    odd = {
        "mark.py": "\ufeffx = 1\n",
        "windows.py": "x = 1\r\ny = 2\r\n",
        "mac.py": "x = 1\ry = 2\r",
        "page.html": "<b>&amp;</b> <script>if (a < b) {}</script>\n",
        "wide.py": f"x = '{'a' * 20_000}'\n",
        "Makefile": "all:\n\techo $(X)\n\n\n",
    }
    page = commit_page(clients, git, odd)
    lines = shown_lines(page)
    for expected in (
        "+ \ufeffx = 1",
        "+ x = 1",
        "+ y = 2",
        "+ <b>&amp;</b> <script>if (a < b) {}</script>",
        "+ \techo $(X)",
    ):
        assert expected in lines
    assert any("cut here" in line for line in lines)
    assert '+ x = <span class="n">1</span></td>' in page
    dense = "".join(f"[{','.join('1234567890' * 2)}]\n" for _ in range(250))
    dense_page = commit_page(clients, git, {f"{name}.py": dense for name in "abcd"})
    added = dense_page.count('<span class="n">') * len('<span class="n"></span>')
    assert 0 < added <= diff_colors.MOST_MARKUP
    assert len(dense_page.encode()) < 200_000
