"""The optional dependencies of the extra `server`, which only the commands that run or manage a server import."""

from typing import Final

from holdfast.backup.errors import ExtraMissing

__all__ = ["SERVER_MODULES", "missing_extra"]

SERVER_MODULES: Final = frozenset(
    {
        "PIL",
        "aiohttp",
        "alembic",
        "anyio",
        "argon2",
        "asyncssh",
        "gitignore_cli",
        "httptools",
        "jinja2",
        "markdown_it",
        "markupsafe",
        "mdit_py_plugins",
        "multidict",
        "nh3",
        "obstore",
        "prometheus_client",
        "pygit2",
        "pygments",
        "pyotp",
        "python_multipart",
        "segno",
        "spdx",
        "sqlalchemy",
        "starlette",
        "uvicorn",
        "uvloop",
        "webauthn",
        "yaml",
        "yarl",
    }
)


def missing_extra(error: ModuleNotFoundError) -> ExtraMissing | None:
    """Return the error for a missing module of the extra `server`; None if the module is not part of it."""
    if (error.name or "").partition(".")[0] not in SERVER_MODULES:
        return None
    return ExtraMissing("this command needs the server: pip install 'holdfast[server]'")
