"""The page of contacts, by number of messages."""

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from holdfast.backup.archives import Person
from holdfast.backup.exports.html.bubbles import color_of, initials
from holdfast.web.chats.view import ConversationRequest, TemplateResult, page_number, truncate

__all__ = ["show_people", "truncate_names"]

ROWS: Final = 100


@dataclass(frozen=True, slots=True)
class ContactRow:
    """A contact in the list."""

    person: Person
    initials: str
    color: int
    chat: str
    messages: str


def show_people(view: ConversationRequest) -> TemplateResult:
    """List the contacts, optionally those whose name, number or username contains a text."""
    people = view.opened.cached("people", lambda: [truncate_names(person) for person in view.archive.people()])
    wanted = view.query.get("q", "").strip()[:200]
    if wanted:
        text = wanted.casefold()
        people = [
            person for person in people if any(text in (part or "").casefold() for part in search_fields(person))
        ]
    number = page_number(view)
    several = len({person.account_id for person in people}) > 1
    part = people[(number - 1) * ROWS : number * ROWS]
    address = view.address("people", q=wanted)
    return TemplateResult(
        "chats/people.html",
        "People",
        {
            "rows": [make_row(view, person) for person in part],
            "several": several,
            "wanted": wanted,
            "total": len(people),
            "size": ROWS,
            "page": number,
            "pages_address": f"{address}{'&' if '?' in address else '?'}page=",
        },
    )


def truncate_names(person: Person) -> Person:
    """Truncate a name."""
    username, profile = truncate(person.username or ""), truncate(person.profile_name or "")
    return replace(
        person,
        name=truncate(person.name),
        account=truncate(person.account),
        username=username or None,
        profile_name=profile or None,
    )


def search_fields(person: Person) -> tuple[str | None, ...]:
    """Return the searchable text of a contact."""
    return person.name, person.profile_name, person.phone, person.username, person.aci


def make_row(view: ConversationRequest, person: Person) -> ContactRow:
    """Return the row of a contact, with links to the chat and to their messages."""
    return ContactRow(
        person,
        initials(person.name),
        color_of(person.id),
        f"{view.address(f'chat/{person.id}')}#latest" if person.id in view.chats() else "",
        view.address("search", **{"from": person.id}) if person.messages else "",
    )
