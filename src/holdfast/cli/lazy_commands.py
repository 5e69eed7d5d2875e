"""Lazy loading of commands: the module of a command is imported when the command runs."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from holdfast.cli.exit_codes import ExitCode

__all__ = ["LazyGroup", "configure_logs", "lazy_group"]


class LazyGroup(TyperGroup):
    """A command group with a table of names and summaries; the module of a command is imported when it runs.

    Help and completion use the summaries, so that they import no modules.
    """

    # The summary of each command, and its location: `module:function`, or `module:group` of a Typer instance.
    table: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Placeholders, for suggestions when a name is mistyped; replaced when a command is loaded.
        self.commands = {name: self.summary_of(name) for name in self.table}
        self._loaded: set[str] = set()

    def summary_of(self, name: str) -> TyperCommand:
        """Return the placeholder of a command that is not loaded."""
        return TyperCommand(name, help=self.table[name][0], rich_markup_mode=None)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help if no command is given."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(ExitCode.USAGE)
        return super().parse_args(ctx, args)

    # `Any`: the types of the contexts are private to Typer.
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve the command of a command line, and load it."""
        if args and args[0] in self.table:
            self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> Any:
        """Import the module of a command, and build it from its function."""
        if name not in self._loaded:
            module, _, attribute = self.table[name][1].partition(":")
            with garbage_collection_paused():
                loaded = getattr(import_module(module), attribute)
            if not isinstance(loaded, typer.Typer):
                single = typer.Typer(add_completion=False, rich_markup_mode=None)
                single.command(name)(loaded)
                loaded = single
            command = typer.main.get_command(loaded)
            command.name = name
            self.commands[name] = command
            self._loaded.add(name)
        return self.commands[name]


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Disable garbage collection during an import: it allocates many objects, nearly all of which stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def lazy_group(table: Mapping[str, tuple[str, str]]) -> type[LazyGroup]:
    """Return the class of a group with these commands: the summary and `module:attribute` of each name."""
    return type("LazyGroup", (LazyGroup,), {"table": dict(table)})


def configure_logs(context: typer.Context) -> None:
    """Configure logging from the global options; only for commands that log, since the import takes time."""
    from holdfast import logs  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    options = context.obj if isinstance(context.obj, dict) else {}
    logs.configure(style=options.get("log_format") or "text", level=options.get("log_level") or "warning")
