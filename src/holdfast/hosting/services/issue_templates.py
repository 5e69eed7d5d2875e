"""Issue templates in the default branch, and the configuration of the template chooser.

A template is Markdown with front matter, or an issue form in YAML. They are read from one folder, the first that
has any. Invalid files are skipped, so that an error in one file does not hide the others.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidYaml
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.trees import TreeEntry, find, page_of_directory, read_blob
from holdfast.hosting.git.yaml_files import LARGEST, YamlValue, read_yaml
from holdfast.hosting.services.revisions import open_git

__all__ = [
    "ContactLink",
    "IssueConfig",
    "IssueFormField",
    "IssueTemplate",
    "config_of",
    "parse_config",
    "parse_template",
    "templates_of",
    "validated_config",
]

FOLDERS: Final = tuple(
    f"{place}{name}"
    for place in ("", ".gitea/", ".forgejo/", ".github/", ".gitlab/")
    for name in ("ISSUE_TEMPLATE", "issue_template")
)
CONFIGS: Final = tuple(
    f"{folder}/config.{extension}"
    for folder in FOLDERS
    if folder.startswith((".gitea/", ".forgejo/", ".github/"))
    for extension in ("yaml", "yml")
)
MOST_TEMPLATES: Final = 50
MOST_BYTES: Final = 512 * 1024
"""Maximum total size of the templates that are read."""
MOST_ENTRIES: Final = 200
"""Maximum number of folder entries that are examined."""
CACHED: Final = 32
SUMMARY: Final = 80
FIELD_ID: Final = re.compile(r"[A-Za-z0-9_-]+\Z")
FORM_OPTIONS: Final = {"dropdown", "checkboxes"}
FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)

FieldType = Literal["markdown", "textarea", "input", "dropdown", "checkboxes"]
FieldPlace = Literal["form", "content"]


class ContactLink(msgspec.Struct, frozen=True):
    """A link offered instead of opening an issue."""

    name: str
    url: str
    about: str


class IssueConfig(msgspec.Struct, frozen=True):
    """The configuration of the template chooser."""

    blank_issues_enabled: bool = True
    contact_links: list[ContactLink] = msgspec.field(default_factory=list)


class IssueFormField(msgspec.Struct, frozen=True):
    """A field of an issue form."""

    type: FieldType
    id: str
    attributes: dict[str, Any]
    validations: dict[str, Any]
    visible: list[FieldPlace]


class IssueTemplate(msgspec.Struct, frozen=True):
    """An issue template: Markdown in `content`, or an issue form in `body`."""

    name: str
    title: str
    about: str
    labels: list[str]
    assignees: list[str]
    ref: str
    content: str
    body: list[IssueFormField]
    file_name: str


def tree_of(app: App, target: RepositoryAccess) -> tuple[Repo, str] | None:
    """Return the tree of the default branch; None without commits."""
    if target.repository.is_empty:
        return None
    repo = open_git(app, target)
    resolved = refs.resolve(repo, "", target.repository.default_branch)
    return None if resolved is None else (repo, read_commit(repo, resolved.commit).tree)


def templates_of(app: App, target: RepositoryAccess) -> list[IssueTemplate]:
    """Return the templates of a repository, by file name."""
    repo_and_tree = tree_of(app, target)
    if repo_and_tree is None:
        return []
    repo, root = repo_and_tree
    for folder in FOLDERS:
        entry = find(repo, root, folder)
        if isinstance(entry, TreeEntry) and entry.type == "dir":
            templates = templates_in(repo.folder, folder, entry.id)
            if templates:
                return list(templates)
    return []


@lru_cache(maxsize=CACHED)
def templates_in(place: Path, folder: str, tree: str) -> tuple[IssueTemplate, ...]:
    """Return the templates of a folder; cached by tree id, as a tree is immutable."""
    repo = open_repository(place)
    left = MOST_BYTES
    issue_templates: list[IssueTemplate] = []
    for entry in page_of_directory(repo, tree, folder.encode(), skip=0, limit=MOST_ENTRIES).entries:
        stem, _, extension = entry.name.rpartition(".")
        if extension not in {"md", "yaml", "yml"} or stem == "config" or entry.type != "file":
            continue
        if entry.size > min(LARGEST, left):
            continue
        left -= entry.size
        try:
            issue_templates.append(parse_template(entry.path, read_blob(repo, entry.id)))
        except InvalidYaml:
            continue
        if len(issue_templates) == MOST_TEMPLATES:
            break
    return tuple(issue_templates)


def parse_template(path: str, content: bytes) -> IssueTemplate:
    """Parse a template file; raise `InvalidYaml` for an invalid one."""
    if path.endswith(".md"):
        text = content.decode("utf-8-sig", errors="replace")
        split = FRONT_MATTER.match(text)
        try:
            fields = mapping(read_yaml(split[1].encode()) if split else None)
        except InvalidYaml:
            fields = {}
        if split is None or not fields:
            # Markdown between two horizontal rules is not front matter: the file is a template without settings.
            about = " ".join(text.split())[:SUMMARY]
            return IssueTemplate(path.rpartition("/")[2], "", about, [], [], "", text, [], path)
        return template(path, fields, text[split.end() :].lstrip("\r\n"), [])
    fields = mapping(read_yaml(content))
    body = fields.get("body")
    if not isinstance(body, list) or not body:
        raise InvalidYaml("'body' is required, a list of fields")
    return template(path, fields, "", form(body))


def template(path: str, fields: dict[str, YamlValue], content: str, body: list[IssueFormField]) -> IssueTemplate:
    """Return a template with the settings of its front matter."""
    name = text_of(fields, "name")
    about = text_of(fields, "about") or text_of(fields, "description")
    if not name or not about:
        raise InvalidYaml(f"'{'about' if name else 'name'}' is required")
    ref = text_of(fields, "ref")
    if ref and not ref.startswith("refs/"):
        ref = f"refs/heads/{ref}"
    labels, assignees = names_of(fields, "labels"), names_of(fields, "assignees")
    return IssueTemplate(name, text_of(fields, "title"), about, labels, assignees, ref, content, body, path)


def form(body: list[YamlValue]) -> list[IssueFormField]:
    """Parse the fields of a form; raise `InvalidYaml` for an invalid field or a duplicate id."""
    fields = [form_field(number, mapping(value)) for number, value in enumerate(body, 1)]
    ids = [field.id for field in fields if field.id]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise InvalidYaml(f"two fields have the id {twice}")
    return fields


def form_field(number: int, fields: dict[str, YamlValue]) -> IssueFormField:
    """Parse a field of a form; raise `InvalidYaml` if an attribute that its type requires is missing."""
    try:
        kind = msgspec.convert(fields.get("type"), FieldType)
        visible = msgspec.convert(fields.get("visible") or [], list[FieldPlace])
    except msgspec.ValidationError:
        raise InvalidYaml(f"field {number} has an unknown type or visibility") from None
    attributes = mapping(fields.get("attributes"))
    required = "value" if kind == "markdown" else "label"
    if not text_of(attributes, required):
        raise InvalidYaml(f"field {number}: '{required}' is required")
    if kind in FORM_OPTIONS:
        options = attributes.get("options")
        if not isinstance(options, list) or not options or not all(is_option(kind, option) for option in options):
            raise InvalidYaml(f"field {number}: 'options' is required, a list of what can be chosen")
    name = text_of(fields, "id")
    if name and not FIELD_ID.match(name):
        raise InvalidYaml(f"field {number}: an id has only letters, digits, hyphens and underscores")
    default: list[FieldPlace] = ["form"] if kind == "markdown" else ["form", "content"]
    return IssueFormField(kind, name, attributes, mapping(fields.get("validations")), visible or default)


def is_option(kind: FieldType, option: YamlValue) -> bool:
    """Return whether an option is valid for a dropdown or for checkboxes."""
    if kind == "dropdown":
        return isinstance(option, str | int)
    return isinstance(option, dict) and bool(text_of(option, "label"))


def mapping(value: YamlValue) -> dict[str, YamlValue]:
    """Return a mapping; empty for null."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidYaml("names and values are required")
    return value


def text_of(fields: dict[str, YamlValue], name: str) -> str:
    """Return a field as text; empty if it is missing."""
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, list | dict):
        raise InvalidYaml(f"'{name}' must be text")
    return str(value).lower() if isinstance(value, bool) else str(value)


def names_of(fields: dict[str, YamlValue], name: str) -> list[str]:
    """Return a field that is a list of names, or a comma-separated string."""
    value = fields.get(name)
    if isinstance(value, list):
        if any(isinstance(item, list | dict) for item in value):
            raise InvalidYaml(f"'{name}' must be a list of names")
        return [str(item) for item in value if item is not None]
    return [item.strip() for item in text_of(fields, name).split(",") if item.strip()]


def config_of(app: App, target: RepositoryAccess) -> IssueConfig:
    """Return the template configuration of a repository; the default if the file is missing or invalid."""
    try:
        return validated_config(app, target)
    except InvalidYaml:
        return IssueConfig()


def validated_config(app: App, target: RepositoryAccess) -> IssueConfig:
    """Return the template configuration of a repository; raise `InvalidYaml` if the file is invalid."""
    repo_and_tree = tree_of(app, target)
    if repo_and_tree is None:
        return IssueConfig()
    repo, root = repo_and_tree
    for path in CONFIGS:
        entry = find(repo, root, path)
        if isinstance(entry, TreeEntry) and entry.type == "file":
            if entry.size > LARGEST:
                raise InvalidYaml(f"it has more than {LARGEST} bytes")
            return parse_config(read_blob(repo, entry.id))
    return IssueConfig()


def parse_config(content: bytes) -> IssueConfig:
    """Parse a configuration file; raise `InvalidYaml` for an unknown or invalid setting."""
    fields = mapping(read_yaml(content))
    blank = fields.get("blank_issues_enabled", True)
    if not isinstance(blank, bool):
        raise InvalidYaml("'blank_issues_enabled' must be true or false")
    links = fields.get("contact_links")
    if links is not None and not isinstance(links, list):
        raise InvalidYaml("'contact_links' must be a list")
    return IssueConfig(blank, [contact_link(number, mapping(link)) for number, link in enumerate(links or [], 1)])


def contact_link(number: int, fields: dict[str, YamlValue]) -> ContactLink:
    """Parse a contact link: every field is required, and the URL must be absolute."""
    link = ContactLink(text_of(fields, "name"), text_of(fields, "url"), text_of(fields, "about"))
    for name in ("name", "url", "about"):
        if not getattr(link, name):
            raise InvalidYaml(f"contact_links at position {number}: '{name}' is required")
    try:
        parts = urlsplit(link.url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https", "mailto"} or not (parts.netloc or parts.path):
        raise InvalidYaml(f"contact_links at position {number}: the url is not a valid address")
    return link
