"""Compiles the hot core; everything else about the package is in pyproject.toml.

Without a C compiler, or with HOLDFAST_PURE=1 in the environment, nothing is compiled: the wheel is for every
platform, the same source runs interpreted, and Cython is one of the requirements, because the source imports it.
What the compiler must be told of the rules is generated first, which fails for a rule that nothing checks.
`initializedcheck` may be off because `boundscheck` is on: a memory view that was never set has no bounds to be in.
"""

import os
import re
import sys
import sysconfig
from importlib.machinery import SourceFileLoader
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.egg_info import egg_info
from setuptools.errors import BaseError, CompileError

SOURCE = Path(__file__).parent / "src"
# Loaded by its path, because the package it is in imports more than a build has.
generator = ModuleType("pxd_generator")
SourceFileLoader(generator.__name__, str(SOURCE / "holdfast/backup/rules/pxd_generator.py")).exec_module(generator)
generator.write_declarations(SOURCE)
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
    "holdfast.backup.wire.line_encoder",
    "holdfast.backup.rules.id_table",
    "holdfast.backup.rules.rule_context",
    "holdfast.backup.rules.checker",
    "holdfast.backup.rules.backup_state",
    "holdfast.backup.archives.item_rows",
    "holdfast.backup.archives.part_rows",
    "holdfast.backup.archives.plain_rows",
    "holdfast.backup.archives.signs",
    "holdfast.backup.datasets.message_columns",
    *generator.compiled_modules(SOURCE),
]
# What Cython would otherwise put into every module: the code of memory views, three quarters of each.
SHARED = "holdfast.backup._cyutility"
# What the interpreted core imports.
INTERPRETED_REQUIREMENTS = ["cython>=3.2"]
# No symbols for a debugger, which take the compiler a third longer; no module uses every table of the rules.
ARGUMENTS = [] if sys.platform == "win32" else ["-g0", "-Wno-unused-const-variable"]
# Code and constants share a segment instead of being padded to pages: 4 KB less for each of fifty small modules.
LINKING = ["-Wl,-z,noseparate-code"] if sys.platform == "linux" else []


class BuildCore(build_ext):  # type: ignore[misc]  # setuptools exports no types
    """Compiles several modules at once."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.parallel = os.cpu_count()


def describe(readme: str, version: str, sources: str) -> str:
    """Return the README for the page of the package index, where a relative link leads nowhere.

    Links lead to the files at the tag of the version.
    """
    absolute = re.sub(r"!\[([^]]*)\]\((?!\w+:)", rf"![\1]({sources}/raw/tag/v{version}/", readme)
    return re.sub(r"(?<!!)\[([^]]*)\]\((?!\w+:|#)", rf"[\1]({sources}/src/tag/v{version}/", absolute)


class WriteMetadata(egg_info):  # type: ignore[misc]  # setuptools exports no types
    """Makes the links of the README absolute, and adds the requirements of the interpreted core if it is one."""

    def run(self) -> None:
        metadata = self.distribution.metadata
        sources = metadata.project_urls["Source"]
        metadata.long_description = describe(metadata.long_description, metadata.version, sources)
        if not self.distribution.ext_modules:
            requirements = [*self.distribution.install_requires, *INTERPRETED_REQUIREMENTS]
            self.distribution.install_requires = self.distribution.metadata.install_requires = requirements
        super().run()


def can_compile() -> bool:
    """Return whether there is a C compiler that finds the headers of Python."""
    # Imported here because setuptools provides it: Python itself does not have it since 3.12.
    from distutils.ccompiler import new_compiler  # noqa: PLC0415
    from distutils.sysconfig import customize_compiler  # noqa: PLC0415

    compiler = new_compiler()
    customize_compiler(compiler)
    with TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text("#include <Python.h>\n")
        try:
            compiler.compile([str(source)], output_dir=folder, include_dirs=[sysconfig.get_path("include")])
        except (BaseError, CompileError, OSError):
            return False
    return True


def extension(name: str, ending: str) -> Extension:
    """Describe a module to compile."""
    source = f"src/{name.replace('.', '/')}.{ending}"
    return Extension(name, [source], extra_compile_args=ARGUMENTS, extra_link_args=LINKING)


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
extensions: list[Extension] = []
if os.environ.get("HOLDFAST_PURE") != "1" and can_compile():
    extensions = cythonize(  # type: ignore[no-untyped-call]  # Cython exports no types
        [*(extension(name, "py") for name in CORE), extension(SHARED, "c")],
        shared_utility_qualified_name=SHARED,
        **OPTIONS,
    )
setup(ext_modules=extensions, cmdclass={"build_ext": BuildCore, "egg_info": WriteMetadata})
