"""Templates for new repositories: licenses, .gitignore files and label sets.

The texts are read from the data files of the packages `spdx` and `gitignore-cli-py`, whose code is not used; if
they are not installed, there are no such templates. The label sets are Holdfast's own.
"""

import datetime
import functools
import json
import re
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

import msgspec

from holdfast.hosting.errors import InvalidValue, NoSuchTemplate

__all__ = [
    "LABEL_SETS",
    "LabelTemplate",
    "LicenseTemplate",
    "fill_license",
    "gitignore_names",
    "gitignore_text",
    "join_gitignores",
    "label_set",
    "license_text",
    "licenses",
]

GITIGNORE_SUFFIX: Final = ".gitignore"
YEAR: Final = re.compile(r"<year>|\[year\]|\[yyyy\]", re.IGNORECASE)
HOLDER: Final = re.compile(
    r"<copyright holders?>|<owner>|\[fullname\]|\[name of copyright owner\]|<name of author>", re.IGNORECASE
)
MOST_GITIGNORES: Final = 20


class LicenseTemplate(msgspec.Struct, frozen=True):
    """A license: its SPDX identifier and its name."""

    key: str
    name: str


class LabelTemplate(msgspec.Struct, frozen=True):
    """A label of a set."""

    name: str
    color: str
    description: str
    exclusive: bool = False


LABEL_SETS: Final[dict[str, tuple[LabelTemplate, ...]]] = {
    "Default": (
        LabelTemplate("bug", "d73a4a", "Something does not work"),
        LabelTemplate("documentation", "0075ca", "About the documentation"),
        LabelTemplate("duplicate", "cfd3d7", "Another issue is about the same"),
        LabelTemplate("enhancement", "a2eeef", "A new feature, or a better one"),
        LabelTemplate("help wanted", "008672", "Contributions are welcome"),
        LabelTemplate("invalid", "e4e669", "It cannot be understood or reproduced"),
        LabelTemplate("question", "d876e3", "More information is needed"),
        LabelTemplate("wontfix", "ffffff", "It will not be worked on"),
    ),
    "Advanced": (
        LabelTemplate("kind/bug", "d73a4a", "Something does not work", exclusive=True),
        LabelTemplate("kind/documentation", "0075ca", "About the documentation", exclusive=True),
        LabelTemplate("kind/enhancement", "a2eeef", "An existing feature made better", exclusive=True),
        LabelTemplate("kind/feature", "0e8a16", "A new feature", exclusive=True),
        LabelTemplate("kind/security", "b60205", "A vulnerability", exclusive=True),
        LabelTemplate("kind/testing", "c5def5", "About the tests", exclusive=True),
        LabelTemplate("priority/critical", "7f1d1d", "It must be fixed at once", exclusive=True),
        LabelTemplate("priority/high", "d93f0b", "It is needed soon", exclusive=True),
        LabelTemplate("priority/medium", "fbca04", "It is needed", exclusive=True),
        LabelTemplate("priority/low", "0e8a16", "It can wait", exclusive=True),
        LabelTemplate("status/blocked", "5319e7", "It waits for something else", exclusive=True),
        LabelTemplate("status/needs information", "d876e3", "The author is asked for more", exclusive=True),
        LabelTemplate("reviewed/duplicate", "cfd3d7", "Another issue is about the same", exclusive=True),
        LabelTemplate("reviewed/invalid", "e4e669", "It cannot be reproduced", exclusive=True),
        LabelTemplate("reviewed/wontfix", "ffffff", "It will not be worked on", exclusive=True),
        LabelTemplate("breaking", "b60205", "Users have to change something"),
    ),
}


def package_folder(package: str, *path: str) -> Traversable | None:
    """Return a folder of a data package; None if the package is not installed."""
    try:
        return resources.files(package).joinpath(*path)
    except ModuleNotFoundError:
        return None


@functools.cache
def gitignore_folder() -> Traversable | None:
    """Return the folder of the .gitignore templates."""
    return package_folder("gitignore_cli", "gitignore", "templates")


@functools.cache
def license_folder() -> Traversable | None:
    """Return the folder of the license texts."""
    return package_folder("spdx", "data")


@functools.cache
def gitignore_names() -> tuple[str, ...]:
    """Return the names of the .gitignore templates, sorted."""
    folder = gitignore_folder()
    files = [] if folder is None else [file.name for file in folder.iterdir()]
    names = [name.removesuffix(GITIGNORE_SUFFIX) for name in files if name.endswith(GITIGNORE_SUFFIX)]
    return tuple(sorted(names, key=str.casefold))


def gitignore_text(name: str) -> str:
    """Return a .gitignore template; raise `NoSuchTemplate` for an unknown name."""
    folder = gitignore_folder()
    # The name is checked against the list before it is used in a path.
    if folder is None or name not in gitignore_names():
        raise NoSuchTemplate(name)
    return folder.joinpath(f"{name}{GITIGNORE_SUFFIX}").read_text("utf-8")


def join_gitignores(names: str) -> str:
    """Return the concatenation of several .gitignore templates, named in a comma-separated list."""
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if len(wanted) > MOST_GITIGNORES:
        raise InvalidValue("Gitignores", f"at most {MOST_GITIGNORES} templates can be combined")
    parts = []
    for name in wanted:
        try:
            parts.append(f"# ---> {name}\n{gitignore_text(name).rstrip()}\n")
        except NoSuchTemplate:
            raise InvalidValue("Gitignores", f"there is no template {name[:100]}") from None
    return "\n".join(parts)


@functools.cache
def licenses() -> tuple[LicenseTemplate, ...]:
    """Return the licenses that have a text, sorted by identifier."""
    folder = license_folder()
    if folder is None:
        return ()
    entries = json.loads(folder.joinpath("db.json").read_text("utf-8"))["licenses"]
    texts = {file.name for file in folder.iterdir()}
    license_templates = [
        LicenseTemplate(entry["id"], entry["name"]) for entry in entries if f"{entry['id']}.txt" in texts
    ]
    return tuple(sorted(license_templates, key=lambda template: template.key.casefold()))


def license_text(key: str) -> tuple[LicenseTemplate, str]:
    """Return a license and its text; raise `NoSuchTemplate` for an unknown key."""
    license_template = next(
        (template for template in licenses() if template.key.casefold() == key.casefold()), None
    )
    folder = license_folder()
    if license_template is None or folder is None:
        raise NoSuchTemplate(key)
    content = folder.joinpath(f"{license_template.key}.txt").read_bytes()
    try:
        return license_template, content.decode()
    except UnicodeDecodeError:
        return license_template, content.decode("latin-1")


def fill_license(key: str, holder: str, now: float) -> str:
    """Return the text of a license with the year and the copyright holder; raise `InvalidValue` if unknown."""
    try:
        _, text = license_text(key)
    except NoSuchTemplate:
        raise InvalidValue("License", f"there is no license {key[:100]}") from None
    year = str(datetime.datetime.fromtimestamp(now, datetime.UTC).year)
    filled = YEAR.sub(lambda _: year, text)
    return HOLDER.sub(lambda _: holder, filled).rstrip() + "\n"


def label_set(name: str) -> tuple[LabelTemplate, ...]:
    """Return a label set; raise `NoSuchTemplate` for an unknown name."""
    if name not in LABEL_SETS:
        raise NoSuchTemplate(name)
    return LABEL_SETS[name]
