"""The command `holdfast`: its groups and global options; errors become exit statuses here only."""

import codecs
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from functools import cache, partial
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final, Literal, NoReturn, TextIO

import typer

import holdfast
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.lazy_commands import configure_logs, lazy_group
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["app", "main"]

COMMANDS: Final = {
    "keep": (
        "Import a phone's backup folder into an archive, verify it and report, once or continuously.",
        "holdfast.cli.keep:keep_folder",
    ),
    "backup": (
        "Read, write and convert chat backups.",
        "holdfast.cli.backup:group",
    ),
    "archive": (
        "Keep backups in one searchable archive.",
        "holdfast.cli.archive:group",
    ),
    "dataset": (
        "Turn many backups into Parquet tables, and search and count in them.",
        "holdfast.cli.dataset:group",
    ),
    "admin": (
        "Manage the users, repositories and data of a server.",
        "holdfast.cli.admin:group",
    ),
    "serve": (
        "Run the server: website, API and git. Initializes an empty data folder.",
        "holdfast.cli.serve:serve",
    ),
    "settings": (
        "Print every setting with its value and where that came from; secrets are masked.",
        "holdfast.cli.settings:show",
    ),
    "version": (
        "Show the version, and whether the core is compiled or interpreted.",
        "holdfast.cli.version:show",
    ),
    "completion": (
        "Print the completion script for a shell; source it from the shell's start file.",
        "holdfast.cli.completion:show",
    ),
}
EXITS: Final = "\n\n".join(f"{int(status)}: {status.meaning}" for status in ExitCode)
# The environment variable with which a shell requests completions; see `completion`.
COMPLETING: Final = "_HOLDFAST_COMPLETE"
STDOUT: Final = "standard output"
STDOUT_DESCRIPTOR: Final = 1
# The name of the error handler of its encoding.
ESCAPES: Final = "holdfast-escapes"
# Signals that end a process: `kill`, the end of a session, a terminal that is closed.
ENDING_SIGNALS: Final = ("SIGTERM", "SIGHUP")
SIGNAL_STATUS: Final = 128
# Commands for which logging is configured here; groups configure it for their own commands.
LOGGING: Final = frozenset({"serve", "settings"})

app = typer.Typer(
    name="holdfast",
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
    add_completion=False,
    # Groups and commands inherit it.
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    # Plain-text help: rendering it with rich would take longer than the rest of the command.
    rich_markup_mode=None,
    epilog=f"Exit status:\n\n{EXITS}",
)


def show_version(requested: bool) -> None:  # noqa: FBT001  # as typer calls it
    """Print the version and exit."""
    if requested:
        typer.echo(f"Holdfast {holdfast.__version__}")
        raise typer.Exit


# Cached: it inspects the signature of every command.
build_command = cache(typer.main.get_command)


@app.callback()
def root(
    context: typer.Context,
    *,
    show: Annotated[  # noqa: ARG001  # handled by its callback
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of errors.")] = False,  # noqa: ARG001  # read by main()
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"] | None,
        typer.Option("--log-level", help="The lowest level that is logged."),
    ] = None,
    log_format: Annotated[
        Literal["text", "json"] | None,
        typer.Option("--log-format", help="The format of log lines."),
    ] = None,
) -> None:
    """Chat backups and a git host."""
    context.obj = {"log_level": log_level, "log_format": log_format}
    if context.invoked_subcommand in LOGGING:
        configure_logs(context)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in argv
    with redirect_stdout(open_output(sys.stdout)) as output, ended_by_signals():
        try:
            return run_json(argv, debug=debug) if "--json" in argv else run(argv, debug=debug)
        finally:
            # What a command printed before it failed; the interpreter flushes only its own stream at exit.
            if output is not None:
                with suppress(OSError):
                    output.flush()


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Exit on a signal that ends the process, so that temporary files are removed: they have decrypted messages.

    Servers replace these handlers by their own. A signal that is ignored, as by `nohup`, stays ignored.
    """
    replaced: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        for name in ENDING_SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, exit_on_signal)
                replaced.append(number)
    try:
        yield
    finally:
        for number in replaced:
            if signal.getsignal(number) is exit_on_signal:
                signal.signal(number, signal.SIG_DFL)


def exit_on_signal(number: int, _frame: FrameType | None) -> NoReturn:
    """Exit with the status that shells report for a signal; a second one ends the process at once."""
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(SIGNAL_STATUS + number)


def run_json(argv: list[str], *, debug: bool) -> int:
    """Run a command that prints one JSON document; an error is one too."""
    from holdfast.cli.output import JsonOutput  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    JsonOutput.printed = False
    return run(argv, debug=debug, json=True)


def run(argv: list[str], *, debug: bool, json: bool = False) -> int:
    """Run one command line, and print errors."""
    fail = partial(report_failure, debug=debug, json=json)
    if COMPLETING in os.environ:
        from holdfast.cli import completion  # noqa: F401, PLC0415  # it registers the shells with Typer
    try:
        result = build_command(app).main(argv, prog_name="holdfast", standalone_mode=False)
        sys.stdout.flush()
    except HoldfastError as error:
        return fail(*message_and_status(error))
    except typer.TyperException as error:
        return fail(error.format_message(), ExitCode.USAGE)
    except typer.Abort as error:
        # A prompt is aborted by Ctrl-C, or by the end of standard input.
        if isinstance(error.__context__, EOFError):
            return fail("standard input ended before the prompt was answered", ExitCode.USAGE)
        return ExitCode.INTERRUPTED
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has closed it.
        discard_output()
        return ExitCode.FINE
    except Exception as error:  # noqa: BLE001  # the top-level handler: no traceback for users
        if isinstance(error, OSError) and error.filename == STDOUT:
            discard_output()
            return fail(f"{STDOUT} {error.strerror}", ExitCode.NO)
        fault = fault_in(error)
        if fault is not None:
            return fail(*message_and_status(fault))
        return fail(
            f"{type(error).__name__}: this is a mistake in Holdfast; --debug shows where",
            ExitCode.BUG,
        )
    return result if isinstance(result, int) else ExitCode.FINE


def discard_output() -> None:
    """Redirect standard output to the null device, so that what is left in its buffer is no second error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class StandardOutput(io.FileIO):
    """Standard output. The error of a failed write has its name; that of a closed pipe stays as it is."""

    def write(self, content: "ReadableBuffer", /) -> int:
        """Write bytes."""
        try:
            return super().write(content)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OSError(error.errno, f"cannot be written: {error.strerror}", STDOUT) from error


def escape_unencodable(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that the encoding of standard output lacks by escapes, which are valid in JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    escapes = (f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))
    return "".join(escapes), error.end


def open_output(stream: TextIO | None) -> TextIO:
    """Open standard output again, so that its errors can be told from those of files.

    The encoding of a pipe on Windows, or of an old locale, has few of the characters that people write.
    """
    if stream is None:
        return open_closed_output()
    if not isinstance(stream, io.TextIOWrapper) or stream is not sys.__stdout__:
        return stream
    stream.flush()
    codecs.register_error(ESCAPES, escape_unencodable)
    return io.TextIOWrapper(
        io.BufferedWriter(StandardOutput(stream.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        errors=ESCAPES if stream.errors == "strict" else stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def open_closed_output() -> TextIO:
    """Open a stream in place of standard output, which is closed; writing to it is an error.

    The descriptor is taken, so that no file that is opened later gets it and is written to by a child process.
    """
    descriptor = os.open(os.devnull, os.O_RDONLY)
    if descriptor != STDOUT_DESCRIPTOR:
        os.dup2(descriptor, STDOUT_DESCRIPTOR)
        os.close(descriptor)
    output = StandardOutput(STDOUT_DESCRIPTOR, "wb", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(output), encoding="utf-8")


def message_and_status(error: HoldfastError) -> tuple[str, ExitCode]:
    """Return the message and the exit status of an error; the mapping is imported only when there is one."""
    from holdfast.cli.error_codes import exit_for, message_of  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    return message_of(error), exit_for(error)


def fault_in(error: Exception) -> HoldfastError | None:
    """Return the error for a failure of the database or the disk, or a missing extra; None if it is a bug."""
    from holdfast.cli.extras import missing_extra  # noqa: PLC0415  # loaded when it is needed, so that commands start at once
    from holdfast.hosting.errors import StorageError  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    if isinstance(error, ModuleNotFoundError):
        return missing_extra(error)
    try:
        from holdfast.hosting.store.faults import translate  # noqa: PLC0415  # loaded when it is needed, so that commands start at once
    except ModuleNotFoundError:
        # Without the extra `server` there is no database, so only disk errors are possible.
        if not isinstance(error, OSError):
            return None
        return StorageError(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror))
    fault = translate(error)
    if isinstance(fault, StorageError) and isinstance(error, OSError) and error.filename is not None:
        return StorageError(f"{error.filename}: {error.strerror}")
    return fault


def report_failure(message: str, status: ExitCode, *, debug: bool, json: bool) -> ExitCode:
    """Print an error, with its traceback in debug mode, and return the exit status."""
    from holdfast.cli.output import print_error, print_json_error  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    if debug:
        traceback.print_exc()
    if message:  # asking for nothing prints the help instead
        print_error(message)
        if json:
            print_json_error(message, status)
    return status
