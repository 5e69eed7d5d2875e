"""Bidirectional control characters on pages."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.web.bidi import MAIN, WARNING, with_balanced_isolates, with_visible_controls
from tests.web.organization_fixture import OrganizationFixture

RLO = "\u202e"
CONTROLS = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]
CODE = f"if is_admin:{RLO}\u2066  # only then\u2069\u2066 begin\n    pass\n"


@pytest.mark.parametrize("control", CONTROLS)
def test_each_control_is_shown_as_its_code(control: str) -> None:
    """A control character is replaced by its code point, and the page has one warning."""
    page = with_visible_controls(f"<html>{MAIN}<p>a{control}b</p></main></html>")
    assert control not in page
    assert f"a<span class=bidi>U+{ord(control):04X}</span>b" in page
    assert page.count(WARNING) == 1


def test_what_is_sent_back_by_a_form_stays_as_it_is() -> None:
    """Control characters in form fields and attributes are not replaced, so that editing keeps them."""
    for html in (
        f"{MAIN}<textarea>a{RLO}b</textarea>",
        f'{MAIN}<input value="a{RLO}b">',
        f'{MAIN}<a title="a>{RLO} onclick=x">b</a>',
        f"{MAIN}<option>a{RLO}b</option>",
    ):
        assert with_visible_controls(html) == html


@given(st.text(alphabet=f"<>\"'= ab/{RLO}\u2066", max_size=40), st.text(alphabet=f"ab{RLO} &;", max_size=10))
def test_only_controls_are_replaced(odd: str, text: str) -> None:
    """Without the inserted marks, a page is the same except for control characters."""
    page = f"{MAIN}{odd}<p>{text}</p>"
    shown = with_visible_controls(page).replace(WARNING, "")
    bare = re.sub(r"<span class=bidi>U\+[0-9A-F]{4}</span>", "", shown)
    assert re.sub(r"[\u202a-\u202e\u2066-\u2069]", "", bare) == re.sub(r"[\u202a-\u202e\u2066-\u2069]", "", page)


def test_controls_are_shown_in_code_diffs_and_names(guild: OrganizationFixture) -> None:
    """Pages of a file, its blame, its commit, its directory and an issue show the control character."""
    api = guild.api
    path = f"gpj.{RLO}exe.py"
    body = {"content": base64.b64encode(CODE.encode()).decode(), "message": f"Add {RLO}it"}
    response = api.post(f"/repos/guild/ship/contents/{path}", json=body)
    assert response.status_code == 201
    issue = api.post("/repos/guild/ship/issues", json={"title": f"Look {RLO}here", "body": f"`a{RLO}b`"})
    assert issue.status_code == 201
    commit = response.json()["commit"]["sha"]
    ada = guild.visit("ada")
    mark = "<span class=bidi>U+202E</span>"
    for place, shown in (
        (f"src/branch/main/{path}", "only then"),
        (f"blame/branch/main/{path}", "only then"),
        (f"commit/{commit}", "only then"),
        ("src/branch/main", "gpj."),
        ("commits/branch/main", "Add "),
        ("issues", "Look "),
        ("issues/1", "here"),
    ):
        page = ada.get(f"/guild/ship/{place}").text
        assert shown in page, place
        assert mark in page, place
        assert page.count(WARNING) == 1, place
        body_text = re.sub(r"<[^>]*>|<title>.*?</title>", "", page)
        assert RLO not in body_text.partition("</head>")[2], place
    edited = ada.get(f"/guild/ship/_edit/main/{path}").text
    assert CODE.replace("\n", "\r\n").splitlines()[0] in edited


def test_names_are_isolated_from_surrounding_text(guild: OrganizationFixture) -> None:
    """A full name written from right to left does not turn the sentence around."""
    name = "\u05d3\u05d5\u05d3"
    guild.api.patch("/user/settings", json={"full_name": name})
    ada = guild.visit("ada")
    for path in ("/", "/ada", "/-/orgs/guild/settings/members"):
        page = ada.get(path).text
        assert f"<bdi>{name}</bdi>" in page, path


def test_in_conversations_only_isolates_that_end_are_left() -> None:
    """Isolates are balanced within one text node, and other control characters are removed."""
    html = "<b>\u202eabc</b> x\u2069y <i>\u2068 one \u2066\u2069</i>\u2068two\u2069 \u2068\u2068three\u2069"
    expected = "<b>abc</b> xy <i>\u2068 one \u2069</i>\u2068two\u2069 \u2068three\u2069"
    assert with_balanced_isolates(html) == expected
    assert with_balanced_isolates("<p title='\u2067x'>plain</p>") == "<p title='x'>plain</p>"
