"""The ref log (reflog): who updated which ref from which object to which, and when."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.git.encoding import well_formed
from holdfast.hosting.guards import in_repository, not_archived, reads, signed_in, writes
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import ref_log
from holdfast.hosting.services.ref_log import Kind

__all__ = ["list_ref_log", "restore_ref"]

READING: Final = (in_repository, reads(Unit.CODE))
WRITING: Final = (in_repository, reads(Unit.CODE), not_archived, signed_in, writes(Unit.CODE))


class RefLogQuery(msgspec.Struct, frozen=True):
    """Filters of the entries."""

    ref: Annotated[str, Meta(description="The full name of a ref, such as refs/heads/main.")] = ""


class RefLogEntrySchema(msgspec.Struct, frozen=True):
    """An update of a ref; an id of zeros means no object."""

    version: int
    ref: str
    kind: Kind
    old: str
    new: str
    actor: UserSchema | None
    created: Time
    restorable: bool


class RestoredRef(msgspec.Struct, frozen=True):
    """A ref that was restored, and the object it points to."""

    ref: str
    sha: str


@endpoint("GET /repos/{owner}/{repo}/ref-log", scope="repository", guards=READING, slow=True)
def list_ref_log(
    request: RequestContext, target: RepositoryAccess, query: RefLogQuery, page: PageParams
) -> PagedList[RefLogEntrySchema]:
    """List the ref updates, newest first."""
    ref_log_entries, total = ref_log.list_entries(
        request.app, target, ref=query.ref, skip=page.skip, limit=page.size
    )
    return PagedList(
        [
            RefLogEntrySchema(
                version=entry.version,
                ref=well_formed(entry.update.ref),
                kind=entry.kind,
                old=entry.update.old,
                new=entry.update.new,
                actor=None if entry.actor is None else user(request, entry.actor),
                created=moment(entry.created_at),
                restorable=entry.is_restorable,
            )
            for entry in ref_log_entries
        ],
        total,
    )


@endpoint(
    "POST /repos/{owner}/{repo}/ref-log/{version}/restore",
    scope="repository",
    guards=WRITING,
    refuses=(401, 403, 404, 409, 423),
)
def restore_ref(request: RequestContext, target: RepositoryAccess, version: int) -> RestoredRef:
    """Restore a branch or tag to its target before an update."""
    restored = ref_log.restore(request.app, request.actor, target, version)
    return RestoredRef(well_formed(restored.ref), restored.new)
