"""The model folder: safetensors and JSON, versioned, checksummed, written in one step, never pickled."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from carat._version import __version__
from carat.errors import InputError, ModelFolderError
from carat.files import locked

FORMAT = "carat-model"
VERSION = 3
"""2 has the gate beside the threshold, 3 the held-out records and entities that came with updates; folders of earlier
versions load and answer as they did."""
MANIFEST = "manifest.json"


@dataclass
class Contents:
    """What a model folder holds.

    Args:
        facts: the manifest without its own bookkeeping: schema, training facts, the parts and their parameters.
        documents: JSON files by name, without ending.
        tensors: safetensors files by name, without ending.
    """

    facts: dict[str, Any]
    documents: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Size and checksum of every file, filled by `read_folder`."""


def check_target(path: Path, *, force: bool) -> None:
    """Refuse, before any work, a place where a model can't be written at its end."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; create it first")
    if not path.exists():
        return
    if not force:
        raise InputError(f"{path}: already exists; use `force` to replace it")
    if not (path / MANIFEST).is_file():
        raise InputError(f"{path}: this is not a model folder, so it is not replaced; choose another name")


def write_folder(path: Path, contents: Contents, *, force: bool = False) -> None:
    """Write everything beside the target, then rename: the model is there whole, or not at all."""
    check_target(path, force=force)
    blobs = {f"{name}.json": _json(value) for name, value in contents.documents.items()}
    for name, tensors in contents.tensors.items():
        flat = {key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}
        blobs[f"{name}.safetensors"] = save_tensors(flat)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "carat": __version__,
        **contents.facts,
        "files": {name: {"bytes": len(blob), "sha256": _sha256(blob)} for name, blob in blobs.items()},
    }
    blobs[MANIFEST] = _json({**manifest, "checksum": _sha256(_json(manifest))})
    with locked(path):
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        try:
            for name, blob in blobs.items():
                with (temporary / name).open("wb") as file:
                    file.write(blob)
                    file.flush()
                    os.fsync(file.fileno())
            temporary.chmod(0o755)
            _swap(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _swap(temporary: Path, path: Path) -> None:
    """A folder can't be renamed over another: the old one steps aside first and goes last."""
    if not path.exists():
        os.rename(temporary, path)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
    os.rename(path, aside / "model")
    try:
        os.rename(temporary, path)
    except BaseException:  # an interrupt too: the old model is the only one there is
        os.rename(aside / "model", path)
        raise
    finally:
        # Never while the only model is in it, should putting it back have failed as well.
        if path.exists():
            shutil.rmtree(aside, ignore_errors=True)


def read_folder(path: Path) -> Contents:
    """Read and verify a model folder; anything that is not exactly what was written is refused."""
    manifest = _read_manifest(path)
    files = manifest.pop("files")
    contents = Contents(
        {key: value for key, value in manifest.items() if key not in ("format", "version", "checksum")},
        files=files,
    )
    for name, entry in files.items():
        blob = _read(path, name)
        if len(blob) != entry["bytes"] or _sha256(blob) != entry["sha256"]:
            raise ModelFolderError(f"{path}: {name} is damaged or was changed; fit the model again or restore the file")
        stem, _, ending = name.rpartition(".")
        if ending == "json":
            contents.documents[stem] = json.loads(blob)
        elif ending == "safetensors":
            contents.tensors[stem] = load_tensors(blob)
    return contents


def stored_identity(path: Path) -> str | None:
    """The identity of the model in a folder; None where there is none, or one that was written before models had it."""
    if not (path / MANIFEST).is_file():
        return None
    found = _read_manifest(path).get("identity")
    return None if found is None else str(found)


def _read_manifest(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        raise ModelFolderError(f"{path}: {'not a model folder' if path.exists() else 'no such model folder'}")
    if not (path / MANIFEST).is_file():
        raise ModelFolderError(f"{path}: not a model folder, {MANIFEST} is missing")
    try:
        manifest = json.loads(_read(path, MANIFEST))
    except ValueError as error:
        raise ModelFolderError(f"{path}: {MANIFEST} is damaged; fit the model again or restore the file") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFolderError(f"{path}: not a carat model")
    version = manifest.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ModelFolderError(
            f"{path}: written by a newer carat (format {version}, this one reads {VERSION}); upgrade carat-recourse"
        )
    checked = {key: value for key, value in manifest.items() if key != "checksum"}
    if manifest.get("checksum") != _sha256(_json(checked)):
        raise ModelFolderError(f"{path}: {MANIFEST} was changed by hand; fit the model again or restore the file")
    return manifest


def _read(path: Path, name: str) -> bytes:
    # A manifest must not lead outside its folder.
    if Path(name).name != name:
        raise ModelFolderError(f"{path}: {MANIFEST} names a file outside the folder")
    try:
        return (path / name).read_bytes()
    except FileNotFoundError as error:
        raise ModelFolderError(f"{path}: {name} is missing; fit the model again or restore the file") from error


def _json(value: Mapping[str, Any] | Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", errors="strict")


def _sha256(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()


def as_path(path: Any) -> Path:
    """The folder that somebody names."""
    if not isinstance(path, str | Path):
        raise InputError(f"`path` must name a model folder, got {path!r}")
    return Path(path)
