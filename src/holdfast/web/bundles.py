"""The scripts that `make assets` bundles with third-party packages: the editor, formulas and diagrams."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec
import structlog

__all__ = ["BUNDLES", "FOLDER", "Bundles"]

# Below the folder of static files.
FOLDER: Final = "bundles"
MANIFEST: Final = "manifest.json"
log = structlog.get_logger(__name__)


class BundleManifest(msgspec.Struct, frozen=True):
    """The manifest of the build: the file of each script, with a content hash in its name."""

    scripts: dict[str, str]


class Bundles:
    """The URLs of bundled scripts; a checkout or an installation without them lacks these features only."""

    def __init__(self, folder: Path) -> None:
        self._addresses = read_addresses(folder)

    def address(self, name: str) -> str:
        """Return the URL path of a script; empty if it was not built."""
        return self._addresses.get(name, "")

    def log_missing(self) -> None:
        """Log a warning if nothing was built; the service does this once, when it starts."""
        if not self._addresses:
            log.warning(
                "bundled scripts missing",
                effect="no editor, formulas and diagrams",
                fix="run `make assets`, which needs npm",
            )


def read_addresses(folder: Path) -> Mapping[str, str]:
    """Read the manifest in a folder; empty if it is missing or invalid."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=BundleManifest)
    except (FileNotFoundError, msgspec.MsgspecError):
        return MappingProxyType({})
    return MappingProxyType({name: f"/static/{FOLDER}/{file}" for name, file in manifest.scripts.items()})


BUNDLES: Final = Bundles(Path(str(resources.files("holdfast.web") / "static" / FOLDER)))
