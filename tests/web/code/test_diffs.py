"""Diffs on pages: size limits, pagination, and the side-by-side view."""

import re
from html import unescape

import httpx
import pytest

from holdfast.hosting.git.patches import FileDiff, Hunk, hunks_of
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.renderer.render_process import CACHE
from holdfast.web.code import diffs
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor
from tests.web.code.page_helpers import NOTES_URL, commit_and_push


def test_the_size_of_a_page_is_limited(clients: ServiceClients, git: Git) -> None:
    """Files that do not fit are linked to pages of their own, and every page is below 200 kB."""
    (git.folder / "a-long.txt").write_text("".join(f"line {number}\n" for number in range(3000)))
    (git.folder / "b-wide.txt").write_text("y" * 100_000)
    for number in range(150):
        (git.folder / f"many-{number}.txt").write_text(f"{'word ' * 20}\n" * 30)
    commit = commit_and_push(git)
    site = visitor(clients)
    page = site.get(f"{NOTES_URL}/commit/{commit}")
    assert len(page.content) < 200_000
    assert "153 files" in page.text
    assert "too long to be shown" in page.text
    alone = re.search(r'href="([^"]+)">Show this file only', page.text)
    assert alone is not None
    whole = site.get(alone[1])
    assert whole.status_code == 200
    assert "1 file" in whole.text
    assert len(whole.content) < 200_000
    last = site.get(f"{NOTES_URL}/commit/{commit}", params={"file": "many-99.txt"}).text
    assert last.count('class="add"') == 30


def followed(site: httpx.Client, page: httpx.Response, words: str) -> list[str]:
    """Follow the link with these words from page to page, and return the texts of all."""
    texts = [page.text]
    while (link := re.search(rf'href="([^"]+)">{words}</a>', texts[-1])) and len(texts) < 40:
        page = site.get(unescape(link[1]))
        assert page.status_code == 200
        assert len(page.content) < 200_000
        texts.append(page.text)
    return texts


def test_every_file_and_line_of_a_large_difference_can_be_reached(clients: ServiceClients, git: Git) -> None:
    """The pages of a commit follow each other to its last file, and those of one file to its last line."""
    (git.folder / "a-long.txt").write_text("".join(f"line {number}.\n" for number in range(6000)))
    (git.folder / "b-wide.txt").write_text(f"{'&' * 200_000}\n" * 3 + "the end\n")
    for number in range(150):
        (git.folder / f"many-{number}.txt").write_text(f"{'word ' * 20}\n" * 30)
    commit = commit_and_push(git)
    site, at = visitor(clients), f"{NOTES_URL}/commit/{commit}"
    pages = followed(site, site.get(at), "Next files")
    assert len(pages) > 2
    shown = [int(position) for text in pages for position in re.findall(r'id="file-(\d+)"', text)]
    assert shown == list(range(1, 154))
    assert "Previous files" in pages[-1]
    assert "Previous files" not in pages[0]
    lines = "".join(followed(site, site.get(at, params={"file": "a-long.txt"}), "Next lines"))
    assert [int(line) for line in re.findall(r"\+ line (\d+)\.<", lines)] == list(range(6000))
    wide = followed(site, site.get(at, params={"file": "b-wide.txt"}), "Next lines")
    assert "+ the end" in wide[-1]
    assert "cut here" in wide[0]
    for odd in ({"first": "9999"}, {"first": "x"}, {"file": "a-long.txt", "skip": "99999999"}, {"skip": "-1"}):
        assert site.get(at, params=odd).status_code == 200


def test_both_sides_stand_beside_each_other_and_context_grows(clients: ServiceClients, git: Git) -> None:
    """Changes inside a line are marked in both views, and links keep the view and its context."""
    lines = [f"line {number}" for number in range(1, 101)]
    (git.folder / "tide.txt").write_text("\n".join(lines))
    commit_and_push(git)
    lines[49] = "line fifty"
    (git.folder / "tide.txt").write_text("\n".join(lines))
    at = f"{NOTES_URL}/commit/{commit_and_push(git)}"
    site = visitor(clients)
    unified = site.get(at).text
    assert "- line <mark>50</mark></td>" in unified
    assert "+ line <mark>fifty</mark></td>" in unified
    assert f'href="{at}?view=split"' in unified
    assert "  line 46</td>" not in unified
    split = site.get(f"{at}?view=split").text
    row = '<td class="no gone">50</td><td class="t gone">line <mark>50</mark></td>'
    assert f'{row}<td class="no added">50</td><td class="t added">line <mark>fifty</mark></td>' in split
    assert f'href="{at}" aria-current' not in split
    assert f'href="{at}?file=tide.txt&amp;context=25&amp;view=split"' in split
    wider = site.get(f"{at}?file=tide.txt&context=25").text
    assert "  line 25</td>" in wider
    assert "  line 24</td>" not in wider
    assert "context=100000" in wider
    whole = site.get(f"{at}?file=tide.txt&context=100000&view=split").text
    assert "line 1</td>" in whole
    assert "line 100</td>" in whole
    assert "Show more context" not in whole
    for query in ("?context=x&view=y", "?context=-1", "?context=999999999&file=tide.txt"):
        assert site.get(f"{at}{query}").status_code == 200


def test_two_contents_are_compared_once(
    clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines that differ are cached for the next view, per content, range and context."""
    lines = [f"line {number}\n" for number in range(100)]
    (git.folder / "notes.txt").write_text("".join(lines))
    commit_and_push(git)
    lines[50] = "changed\n"
    (git.folder / "notes.txt").write_text("".join(lines))
    at = f"{NOTES_URL}/commit/{commit_and_push(git)}"
    compared: list[int] = []

    def counted(
        repo: Repo, file: FileDiff, *, most: int, skip: int, context: int
    ) -> tuple[list[Hunk], bool] | None:
        compared.append(context)
        return hunks_of(repo, file, most=most, skip=skip, context=context)

    CACHE.clear()
    monkeypatch.setattr(diffs, "hunks_of", counted)
    site = visitor(clients)
    first, second = site.get(at).text, site.get(at).text
    assert first.count("+ changed</td>") == second.count("+ changed</td>") == 1
    assert compared == [3]
    assert site.get(at, params={"file": "notes.txt", "context": 25}).text.count("line 25</td>") == 1
    assert compared == [3, 25]
