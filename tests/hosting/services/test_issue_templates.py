"""Parsing of issue templates, forms and their settings."""

import pytest

from holdfast.hosting.errors import InvalidYaml
from holdfast.hosting.services.issue_templates import (
    ContactLink,
    IssueConfig,
    IssueFormField,
    IssueTemplate,
    parse_config,
    parse_template,
)

FORM = b"""
name: Bug
description: It does not work
labels: bug, help wanted
body:
"""


def test_markdown_has_its_settings_in_front() -> None:
    """Labels are a YAML list or separated by commas, and a branch name becomes a full ref."""
    content = b"""---
name: Bug report
about: Something is wrong
title: "[Bug] "
labels: [bug, 12]
assignees: ada, bob
ref: main
---

What happened?
---
More.
"""
    assert parse_template(".gitea/ISSUE_TEMPLATE/bug.md", content) == IssueTemplate(
        name="Bug report",
        title="[Bug] ",
        about="Something is wrong",
        labels=["bug", "12"],
        assignees=["ada", "bob"],
        ref="refs/heads/main",
        content="What happened?\n---\nMore.\n",
        body=[],
        file_name=".gitea/ISSUE_TEMPLATE/bug.md",
    )


@pytest.mark.parametrize("content", [b"# What?\n\nTell us.", b"---\nTitle\n---\nTell us.", b"---\na: [\n---\nx"])
def test_markdown_without_settings_is_named_after_its_file(content: bytes) -> None:
    """Text between two horizontal rules, and invalid YAML, are no front matter."""
    issue_template = parse_template("ISSUE_TEMPLATE/plain.md", content)
    assert (issue_template.name, issue_template.content) == ("plain.md", content.decode())
    assert issue_template.about == " ".join(content.decode().split())


def test_a_form_has_fields() -> None:
    """Fields of a form have the default visibility of their type unless the form names another one."""
    found = parse_template(
        ".github/ISSUE_TEMPLATE/bug.yml",
        FORM
        + b"""
- {type: markdown, attributes: {value: Thanks}}
- type: input
  id: version
  attributes: {label: Version}
  validations: {required: true}
- {type: dropdown, id: os, visible: [form], attributes: {label: System, options: [Linux, 3], default: 0}}
- {type: checkboxes, attributes: {label: Done, options: [{label: Searched, required: true}]}}
""",
    )
    assert (found.name, found.about, found.labels) == ("Bug", "It does not work", ["bug", "help wanted"])
    assert (found.content, found.ref) == ("", "")
    both = ["form", "content"]
    assert found.body[0] == IssueFormField("markdown", "", {"value": "Thanks"}, {}, ["form"])
    assert found.body[1] == IssueFormField("input", "version", {"label": "Version"}, {"required": True}, both)  # type: ignore[arg-type]  # lists equal the tuples that are parsed
    assert found.body[2].visible == ["form"]
    assert found.body[2].attributes["options"] == ["Linux", 3]
    assert found.body[3].attributes["options"] == [{"label": "Searched", "required": True}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "'body' is required"),
        (b"  x: y", "'body' is required"),
        (b"- x", "names and values"),
        (b"- {type: song, attributes: {label: x}}", "field 1 has an unknown type"),
        (b"- {type: input, visible: [moon], attributes: {label: x}}", "field 1 has an unknown type or visibility"),
        (b"- {type: markdown}", "'value' is required"),
        (b"- {type: input, attributes: {value: x}}", "'label' is required"),
        (b"- {type: input, attributes: {label: [x]}}", "'label' must be text"),
        (b"- {type: dropdown, attributes: {label: x}}", "'options' is required"),
        (b"- {type: dropdown, attributes: {label: x, options: [{label: y}]}}", "'options' is required"),
        (b"- {type: checkboxes, attributes: {label: x, options: [y]}}", "'options' is required"),
        (b"- {type: input, id: a b, attributes: {label: x}}", "an id has only"),
        (b"- {type: input, id: a, attributes: {label: x}}\n" * 2, "two fields have the id a"),
    ],
)
def test_an_invalid_form_says_what_is_wrong(body: bytes, message: str) -> None:
    """The error for an invalid form names the field and the rule it breaks."""
    with pytest.raises(InvalidYaml, match=message):
        parse_template("x.yaml", FORM + body)


@pytest.mark.parametrize("field", ["name", "about"])
def test_a_template_needs_a_name_and_what_it_is_about(field: str) -> None:
    """A Markdown template without `name` or `about` is refused with the missing key."""
    fields = {"name": "n", "about": "a"}
    del fields[field]
    lines = "\n".join(f"{name}: {value}" for name, value in fields.items())
    with pytest.raises(InvalidYaml, match=f"'{field}' is required"):
        parse_template("x.md", f"---\n{lines}\n---\n".encode())


def test_settings_turn_blank_issues_off_and_have_links() -> None:
    """Blank issues are enabled unless `config.yaml` disables them, and contact links are read from it."""
    link = b"contact_links: [{name: Forum, url: 'https://example.org/f', about: Ask}]"
    assert parse_config(b"") == IssueConfig(True, [])
    assert parse_config(b"blank_issues_enabled: false\n" + link) == IssueConfig(
        False, [ContactLink("Forum", "https://example.org/f", "Ask")]
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"- x", "names and values"),
        (b"blank_issues_enabled: maybe", "must be true or false"),
        (b"contact_links: x", "must be a list"),
        (b"contact_links: [{url: 'https://example.org', about: a}]", "position 1: 'name' is required"),
        (b"contact_links: [{name: n, about: a}]", "position 1: 'url' is required"),
        (b"contact_links: [{name: n, url: 'https://example.org'}]", "position 1: 'about' is required"),
        (b"contact_links: [{name: n, url: 'javascript:x', about: a}]", "not a valid address"),
        (b"contact_links: [{name: n, url: 'https://[', about: a}]", "not a valid address"),
    ],
)
def test_invalid_settings_say_what_is_wrong(content: bytes, message: str) -> None:
    """The error for invalid settings names the key, and for a contact link its position."""
    with pytest.raises(InvalidYaml, match=message):
        parse_config(content)
