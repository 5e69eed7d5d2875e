"""Preparation of the object store at startup, before requests are served."""

from collections.abc import Callable

from holdfast.hosting.app import App
from holdfast.hosting.services.adoption import adopt
from holdfast.hosting.storage import instance

__all__ = ["prepare_storage"]


def prepare_storage(app: App, progress: Callable[[int, int], None]) -> None:
    """Claim the bucket, and adopt repositories of an earlier version.

    `progress` is called with the number adopted and the total.
    """
    identity = instance.read_row(app.database)
    if identity is not None:
        instance.claim_bucket(app.store, app.settings, identity.instance_id)
    adopt(app, progress)
