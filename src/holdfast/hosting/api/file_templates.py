"""Templates for new repositories: licenses, .gitignore files and label sets."""

from urllib.parse import quote

import msgspec

from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import file_templates
from holdfast.hosting.services.file_templates import LabelTemplate, LicenseTemplate

__all__ = [
    "list_gitignores",
    "list_label_sets",
    "list_licenses",
    "show_gitignore",
    "show_label_set",
    "show_license",
]


class GitignoreTemplateInfo(msgspec.Struct, frozen=True):
    """A .gitignore template and its text."""

    name: str
    source: str


class LicensesTemplateListEntry(msgspec.Struct, frozen=True):
    """A license in a list."""

    key: str
    name: str
    url: str


class LicenseTemplateInfo(msgspec.Struct, frozen=True):
    """A license and its text."""

    key: str
    name: str
    url: str
    body: str
    implementation: str


IMPLEMENTATION = "Add the text as a file named LICENSE to the root folder of the repository."


def license_url(request: RequestContext, license_template: LicenseTemplate) -> str:
    """Return the URL of a license in the API."""
    return f"{request.api}/licenses/{quote(license_template.key)}"


@endpoint("GET /gitignore/templates", tag="miscellaneous")
def list_gitignores(request: RequestContext) -> list[str]:  # noqa: ARG001  # called like every endpoint
    """List the names of the .gitignore templates."""
    return list(file_templates.gitignore_names())


@endpoint("GET /gitignore/templates/{name}", tag="miscellaneous", refuses=(404,))
def show_gitignore(request: RequestContext, name: str) -> GitignoreTemplateInfo:  # noqa: ARG001  # as above
    """Show a .gitignore template."""
    return GitignoreTemplateInfo(name, file_templates.gitignore_text(name))


@endpoint("GET /label/templates", tag="miscellaneous")
def list_label_sets(request: RequestContext) -> list[str]:  # noqa: ARG001  # as above
    """List the names of the label sets."""
    return list(file_templates.LABEL_SETS)


@endpoint("GET /label/templates/{name}", tag="miscellaneous", refuses=(404,))
def show_label_set(request: RequestContext, name: str) -> list[LabelTemplate]:  # noqa: ARG001  # as above
    """Show a label set."""
    return list(file_templates.label_set(name))


@endpoint("GET /licenses", tag="miscellaneous")
def list_licenses(request: RequestContext) -> list[LicensesTemplateListEntry]:
    """List the licenses."""
    license_templates = file_templates.licenses()
    return [
        LicensesTemplateListEntry(
            license_template.key, license_template.name, license_url(request, license_template)
        )
        for license_template in license_templates
    ]


@endpoint("GET /licenses/{name}", tag="miscellaneous", refuses=(404,))
def show_license(request: RequestContext, name: str) -> LicenseTemplateInfo:
    """Show a license."""
    license_template, text = file_templates.license_text(name)
    return LicenseTemplateInfo(
        license_template.key, license_template.name, license_url(request, license_template), text, IMPLEMENTATION
    )
