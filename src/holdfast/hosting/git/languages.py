"""Language statistics of a tree: bytes per language, by file name.

Names are those of GitHub's Linguist. Only programming and markup languages count, not data such as JSON or prose
such as Markdown. Vendored and generated files, recognized by their names, are excluded.
"""

import re
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.trees import DIRECTORY, SUBMODULE, SYMLINK, walk

__all__ = ["language_of", "languages"]

# The maximum number of files that are counted.
MOST_FILES: Final = 50_000
KEPT: Final = 512
OF_OTHERS: Final = re.compile(
    rb"(?:^|/)(?:node_modules|bower_components|vendors?|3rd[-_]?party|third[-_]?party|dist|\.venv)/"
    rb"|\.min\.(?:js|css)$",
    re.IGNORECASE,
)
EXTENSIONS: Final[dict[str, str]] = {
    extension: language
    for language, extensions in {
        "Ada": "ada adb ads",
        "Assembly": "asm s",
        "Astro": "astro",
        "AWK": "awk",
        "Batchfile": "bat cmd",
        "C": "c h",
        "C#": "cs csx",
        "C++": "cc cpp cxx c++ hh hpp hxx h++ ipp",
        "Clojure": "clj cljc cljs",
        "CMake": "cmake",
        "COBOL": "cbl cob",
        "CoffeeScript": "coffee",
        "Common Lisp": "lisp cl",
        "Crystal": "cr",
        "CSS": "css",
        "Cuda": "cu cuh",
        "Cython": "pyx pxd pxi",
        "D": "d",
        "Dart": "dart",
        "Elixir": "ex exs",
        "Elm": "elm",
        "Emacs Lisp": "el",
        "Erlang": "erl hrl",
        "F#": "fs fsi fsx",
        "Fortran": "f f90 f95 f03 for",
        "GDScript": "gd",
        "GLSL": "glsl vert frag",
        "Go": "go",
        "Groovy": "groovy gradle",
        "Haskell": "hs",
        "HCL": "hcl tf",
        "HTML": "html htm xhtml",
        "Java": "java",
        "JavaScript": "js jsx mjs cjs",
        "Jinja": "jinja jinja2 j2",
        "Julia": "jl",
        "Jupyter Notebook": "ipynb",
        "Kotlin": "kt kts",
        "Less": "less",
        "Lua": "lua",
        "MATLAB": "matlab",
        "Nim": "nim",
        "Nix": "nix",
        "Objective-C": "m",
        "Objective-C++": "mm",
        "OCaml": "ml mli",
        "Pascal": "pas dpr",
        "Perl": "pl pm",
        "PHP": "php phtml",
        "PowerShell": "ps1 psm1 psd1",
        "Prolog": "prolog",
        "Pug": "pug jade",
        "Python": "py pyi pyw",
        "QML": "qml",
        "R": "r",
        "Racket": "rkt",
        "Ruby": "rb rake gemspec",
        "Rust": "rs",
        "Sass": "sass",
        "Scala": "scala sc",
        "Scheme": "scm ss",
        "SCSS": "scss",
        "Shell": "sh bash zsh fish ksh",
        "Smalltalk": "st",
        "Solidity": "sol",
        "Starlark": "bzl star",
        "Stylus": "styl",
        "Svelte": "svelte",
        "Swift": "swift",
        "SystemVerilog": "sv svh",
        "Tcl": "tcl",
        "TeX": "tex sty cls",
        "TypeScript": "ts tsx mts cts",
        "V": "v",
        "Vala": "vala",
        "VHDL": "vhd vhdl",
        "Vim Script": "vim",
        "Visual Basic .NET": "vb",
        "Vue": "vue",
        "WebAssembly": "wat wast",
        "XSLT": "xsl xslt",
        "Zig": "zig",
    }.items()
    for extension in extensions.split()
}
NAMES: Final = {
    "build.bazel": "Starlark",
    "cmakelists.txt": "CMake",
    "containerfile": "Dockerfile",
    "dockerfile": "Dockerfile",
    "gemfile": "Ruby",
    "gnumakefile": "Makefile",
    "jenkinsfile": "Groovy",
    "justfile": "Just",
    "makefile": "Makefile",
    "meson.build": "Meson",
    "rakefile": "Ruby",
    "vagrantfile": "Ruby",
}


def language_of(path: bytes) -> str | None:
    """Return the language of a file by its name; None if it does not count."""
    if OF_OTHERS.search(path):
        return None
    name = display_name(path.rpartition(b"/")[2]).lower()
    if name in NAMES:
        return NAMES[name]
    stem, dot, extension = name.rpartition(".")
    return EXTENSIONS.get(extension) if dot and stem else None


def languages(repo: Repo, tree: str) -> dict[str, int]:
    """Return the bytes per language in a tree, largest first; cached."""
    return dict(counted(repo.folder, tree))


@lru_cache(maxsize=KEPT)
def counted(folder: Path, tree: str) -> tuple[tuple[str, int], ...]:
    """Sum up the sizes of a tree's files."""
    repo = open_repository(folder)
    sizes: dict[str, int] = {}
    for mode, path, at in islice(walk(repo, tree), MOST_FILES):
        language = None if mode in {DIRECTORY, SUBMODULE, SYMLINK} else language_of(path)
        header = None if language is None else repo.header(at)
        if language is not None and header is not None:
            sizes[language] = sizes.get(language, 0) + header[1]
    return tuple(sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])))
