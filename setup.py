"""Compiles the hot core; everything else about the package is in pyproject.toml.

Compiling is optional: an install without a C compiler succeeds, and the same source then runs interpreted.
`initializedcheck` may be off because `boundscheck` is on: a memory view that was never set has no bounds to be in.
"""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

CORE = [
    "holdfast.backup.wire.cursor",
    "holdfast.backup.wire.frames",
    "holdfast.backup.wire.walk",
    "holdfast.backup.wire.collect",
    "holdfast.backup.wire.leaves",
    "holdfast.backup.wire.renumber",
    "holdfast.backup.wire.unknown",
    "holdfast.backup.wire.render",
    "holdfast.backup.wire.tojson",
    "holdfast.backup.rules.id_table",
    "holdfast.backup.rules.rule_context",
    "holdfast.backup.rules.value_checks",
    "holdfast.backup.rules.account",
    "holdfast.backup.rules.attachment",
    "holdfast.backup.rules.call_link",
    "holdfast.backup.rules.chat",
    "holdfast.backup.rules.chat_folder",
    "holdfast.backup.rules.chat_style",
    "holdfast.backup.rules.contact",
    "holdfast.backup.rules.contact_card",
    "holdfast.backup.rules.distribution_list",
    "holdfast.backup.rules.gift_badge",
    "holdfast.backup.rules.group",
    "holdfast.backup.rules.group_update",
    "holdfast.backup.rules.message",
    "holdfast.backup.rules.payment",
    "holdfast.backup.rules.poll",
    "holdfast.backup.rules.reaction",
    "holdfast.backup.rules.text",
    "holdfast.backup.rules.update",
    "holdfast.backup.rules.view_once",
    "holdfast.backup.rules.quote",
    "holdfast.backup.rules.story_reply",
    "holdfast.backup.rules.record_checks",
    "holdfast.backup.rules.checker",
    "holdfast.backup.archives.item_rows",
    "holdfast.backup.archives.part_rows",
    "holdfast.backup.archives.plain_rows",
]
# What Cython would otherwise put into every module: the code of memory views, three quarters of each.
SHARED = "holdfast.backup._cyutility"
# What cannot run interpreted, and has something else in its place where it was not compiled.
CALLS = ["holdfast.hosting.git.kernel"]
NO_SYMBOLS = [] if sys.platform == "win32" else ["-g0"]


class BuildCore(build_ext):  # type: ignore[misc]  # setuptools exports no types
    """Compiles several modules at once; takes a compiler that is not there for one that fails: `optional`."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.parallel = os.cpu_count()

    def build_extension(self, extension: Extension) -> None:
        try:
            super().build_extension(extension)
        except OSError as error:
            raise CompileError(str(error)) from error


def extension(name: str, ending: str) -> Extension:
    """Describe a module to compile, without what a debugger needs, which takes the compiler a third longer."""
    return Extension(name, [f"src/{name.replace('.', '/')}.{ending}"], extra_compile_args=NO_SYMBOLS)


OPTIONS = {
    "language_level": 3,
    "build_dir": "build/cython",
    "compiler_directives": {
        "boundscheck": True,
        "wraparound": False,
        "embedsignature": True,
        "initializedcheck": False,
    },
}
extensions: list[Extension] = [
    *cythonize(  # type: ignore[no-untyped-call]  # Cython exports no types
        [*(extension(name, "py") for name in CORE), extension(SHARED, "c")],
        shared_utility_qualified_name=SHARED,
        **OPTIONS,
    ),
    *cythonize([extension(name, "pyx") for name in CALLS], **OPTIONS),  # type: ignore[no-untyped-call]  # Cython exports no types
]
for made in extensions:
    made.optional = True  # said here, because cythonize makes extensions of its own

setup(ext_modules=extensions, cmdclass={"build_ext": BuildCore})
