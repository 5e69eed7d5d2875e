"""The scripts that `make assets` bundles with packages of others: the editor, formulas and diagrams."""

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
    """What the build wrote: the file of each script, whose name has the hash of its content."""

    scripts: dict[str, str]


class Bundles:
    """The addresses of bundled scripts; a checkout or an installation without them works with less."""

    def __init__(self, folder: Path) -> None:
        self._addresses = read_addresses(folder)

    def address(self, name: str) -> str:
        """Return the path of a script on the site; empty if it was not built."""
        return self._addresses.get(name, "")

    def log_missing(self) -> None:
        """Log a warning if nothing was built; the service does this once, when it starts."""
        if not self._addresses:
            log.warning(
                "the editor, formulas and diagrams are not built, so texts are edited and shown plain; "
                "run `make assets`, which needs npm"
            )


def read_addresses(folder: Path) -> Mapping[str, str]:
    """Read the manifest in a folder; nothing if there is none, or one that the build did not write."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=BundleManifest)
    except (FileNotFoundError, msgspec.MsgspecError):
        return MappingProxyType({})
    return MappingProxyType({name: f"/static/{FOLDER}/{file}" for name, file in manifest.scripts.items()})


BUNDLES: Final = Bundles(Path(str(resources.files("holdfast.web") / "static" / FOLDER)))
