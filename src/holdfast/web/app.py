"""The application: the API of the host, and the pages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from holdfast.hosting import api
from holdfast.hosting.data import connect
from holdfast.settings import Settings
from holdfast.web import home, login
from holdfast.web.guard import Guard
from holdfast.web.pages import Pages, not_found
from holdfast.web.requests import RequestLog

__all__ = ["build"]


def build(settings: Settings) -> Starlette:
    """Build the application for these settings. Its database must have been migrated before."""
    database = connect(settings)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        database.close()

    static = Path(str(resources.files("holdfast.web") / "static"))
    app = Starlette(
        routes=[
            Route("/", home.show, methods=["GET"]),
            Route("/login", login.show, methods=["GET"]),
            Route("/login", login.submit, methods=["POST"]),
            Route("/logout", login.leave, methods=["POST"]),
            Mount("/api/v1", routes=api.routes()),
            Mount("/static", StaticFiles(directory=static)),
        ],
        middleware=[Middleware(RequestLog), Middleware(Guard)],
        exception_handlers={404: not_found},
        lifespan=lifespan,
    )
    app.state.settings = settings
    app.state.database = database
    app.state.pages = Pages()
    return app
