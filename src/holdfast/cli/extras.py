"""The extra `server`: what is imported by the commands that run or manage a server, and by no other."""

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
    """Return the error that names the extra with a module that was not found; None if no extra has it."""
    if (error.name or "").partition(".")[0] not in SERVER_MODULES:
        return None
    return ExtraMissing("this command needs the server: pip install 'holdfast[server]'")
