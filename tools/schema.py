"""Generate the message classes and their type stubs from the .proto files."""

import argparse
import sys
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

FOLDER = Path("holdfast/backup/schema")
PROTOS = ("backup", "local")


def generate(source: Path, target: Path) -> None:
    """Compile the schema below `source` into `target`, both roots of the package."""
    well_known = resources.files("grpc_tools") / "_proto"
    plugin = Path(sys.executable).parent / "protoc-gen-mypy"
    status = protoc.main(
        [
            *("protoc", f"-I{source}", f"-I{well_known}", f"--plugin={plugin}"),
            *(f"--python_out={target}", f"--mypy_out=quiet:{target}"),
            *(str(source / FOLDER / f"{name}.proto") for name in PROTOS),
        ]
    )
    if status != 0:
        sys.exit("protoc refused the schema")


if __name__ == "__main__":
    argparse.ArgumentParser(
        prog="python -m tools.schema", description="Generate the message classes from the .proto files."
    ).parse_args()
    generate(Path("src"), Path("src"))
