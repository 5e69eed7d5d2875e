"""Helpers that create a repository with unusual names, modes, commits and refs."""

import hashlib
import os
import zlib
from pathlib import Path

from holdfast.hosting.git.program import run

__all__ = ["FILES", "make_odd_repository"]

WHO = b"Ada <ada@example.org> 1700000000 +0000"
FILES = (
    b"plain.txt",
    b"new\nline.txt",
    b"tab\tand \x01 control",
    b'quote".txt',
    b"back\\slash",
    b"caf\xe9 in Latin-1",
    "snow\N{SNOWMAN}".encode(),
    b"percent%41#?.txt",
    b" spaces ",
    b"-option",
    b"@{u}",
    b"x" * 200,
)


def put(folder: Path, kind: str, content: bytes) -> str:
    """Write a loose object without the checks of git, and return its id."""
    head = b"%s %d\0" % (kind.encode(), len(content))
    name = hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
    path = folder / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(head + content))
    return name


def tree(folder: Path, *entries: tuple[bytes, bytes, str]) -> str:
    """Write a tree of modes, names and ids, in git's order."""
    ordered = sorted(entries, key=lambda entry: entry[1] + b"/" * (int(entry[0], 8) == 0o40000))
    return put(
        folder, "tree", b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(at)) for mode, name, at in ordered)
    )


def commit(
    folder: Path, root: str, *parents: str, author: bytes = WHO, more: bytes = b"", message: bytes = b"x\n"
) -> str:
    """Write a commit."""
    above = b"".join(b"parent %s\n" % parent.encode() for parent in parents)
    lines = b"tree %s\n%sauthor %s\ncommitter %s\n%s\n" % (root.encode(), above, author, WHO, more)
    return put(folder, "commit", lines + message)


def make_odd_repository(folder: Path) -> dict[str, str]:
    """Fill a bare repository, and return its refs."""
    blob = put(folder, "blob", b"text\r\nwith \xff and \x00\n")
    script = put(folder, "blob", b"#!/bin/sh\n")
    target = put(folder, "blob", b"../../nowhere\n\xff")
    inner = tree(folder, *((b"100644", name, blob) for name in FILES))
    empty = put(folder, "tree", b"")
    modules = put(folder, "blob", b'[submodule "x"]\n\tpath = module\n\turl = https://example.org/x.git\n')
    root = tree(
        folder,
        *((b"100644", name, blob) for name in FILES),
        (b"0100644", b"padded.txt", blob),
        (b"100664", b"group-writable.txt", blob),
        (b"100755", b"run.sh", script),
        (b"040000", b"padded-folder", inner),
        (b"40000", b"new\nfolder", inner),
        (b"40000", b"empty", empty),
        (b"120000", b"link", target),
        (b"160000", b"module", "1" * 40),
        (b"100644", b".gitmodules", modules),
    )
    first = commit(folder, root)
    odd = [
        commit(folder, root, first, author=b"Ada <ada@example.org> 1700000000 -7000"),
        commit(folder, root, first, author=b"Ada <ada@example.org> 99999999999999 +0000"),
        commit(folder, empty, first, message=b"caf\xe9 \xff\n"),
        commit(folder, root, first, more=b"encoding ISO-8859-1\n", message=b"caf\xe9\n"),
        commit(folder, root, first, more=b"encoding no-such-encoding\n", message=b"caf\xe9\n"),
        commit(folder, root, first, more=b"encoding hex\n", message=b"61\n"),
        commit(
            folder,
            root,
            first,
            more=b"gpgsig -----BEGIN PGP SIGNATURE-----\n \xff\n -----END PGP SIGNATURE-----\n",
        ),
        commit(folder, root, first, message=b""),
        commit(folder, root, first, author=b" <> 0 +0000"),
        commit(folder, root, first, author="\N{RIGHT-TO-LEFT OVERRIDE}A <a\x01@b> 1 +0000".encode()),
    ]
    octopus = commit(folder, root, *[commit(folder, root, first, message=b"%d\n" % item) for item in range(70)])
    last = octopus
    for other_item in odd:
        last = commit(folder, root, last, other_item)
    tag = put(folder, "tag", b"object %s\ntype tree\ntag t\ntagger %s\n\ntree\n" % (root.encode(), WHO))
    of_tag = put(folder, "tag", b"object %s\ntype tag\ntag tt\n\nno tagger\n" % tag.encode())
    of_blob = put(folder, "tag", b"object %s\ntype blob\ntag tb\ntagger %s\n\nblob\n" % (blob.encode(), WHO))
    signed = b"object %s\ntype commit\ntag s\ntagger %s\n\ncaf\xe9\n-----BEGIN PGP SIGNATURE-----\n\xff\n"
    refs = {
        "refs/heads/main": last,
        "refs/heads/empty": commit(folder, empty),
        "refs/heads/slash/and#hash%41": last,
        "refs/heads/\N{SNOWMAN}": odd[0],
        os.fsdecode(b"refs/heads/caf\xe9"): odd[1],
        "refs/tags/tree": root,
        "refs/tags/blob": blob,
        "refs/tags/of-tree": tag,
        "refs/tags/of-tag": of_tag,
        "refs/tags/of-blob": of_blob,
        "refs/tags/signed": put(folder, "tag", signed % (last.encode(), WHO)),
        "refs/tags/main": last,
        "refs/notes/commits": commit(folder, empty),
        "refs/changes/01/1/1": odd[2],
        **{f"refs/heads/odd-{number}": item for number, item in enumerate(odd)},
    }
    for ref, at in refs.items():
        run(folder, "update-ref", ref, at)
    return refs
