"""Compiles the hot core; everything else about the package is in pyproject.toml.

`optional=True` is what lets an install without a C compiler succeed: the same source then runs interpreted.
"""

from Cython.Build import cythonize
from setuptools import Extension, setup

CORE = ["holdfast.backup.wire.frames"]

setup(
    ext_modules=cythonize(  # type: ignore[no-untyped-call]  # Cython exports no types
        [Extension(name, [f"src/{name.replace('.', '/')}.py"], optional=True) for name in CORE],
        language_level=3,
        build_dir="build/cython",
        compiler_directives={"boundscheck": True, "wraparound": False, "embedsignature": True},
    )
)
