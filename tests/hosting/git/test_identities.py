"""Author names and email addresses of commits."""

from msgspec.structs import replace

from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database


def test_authors_have_the_name_and_address_of_their_settings(database: Database) -> None:
    """The author name is free of characters git refuses, and a hidden address is a noreply address."""
    admin = accounts.find_user(database, "admin")
    assert (commit_name(admin), commit_email(admin)) == ("admin", f"{admin.id}+admin@noreply.localhost")
    account = replace(admin, full_name=" Ada <b>\n", email="ada@example.org")
    assert (commit_name(account), commit_email(account)) == ("Ada b", "ada@example.org")
    assert commit_email(replace(account, hides_email=True)).endswith("@noreply.localhost")
