"""The model folder is whole and as written, or it is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import torch

import carat
from carat.errors import InputError, ModelFolderError
from carat.fitting import store


@pytest.fixture
def folder(planted: pa.Table, tmp_path: Path) -> Path:
    carat.fit(planted, profile="instant").save(tmp_path / "model")
    return tmp_path / "model"


def edit_manifest(folder: Path, **changes: object) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def truncate(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-20])


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated tensors": (truncate("pairs.safetensors"), "pairs.safetensors is damaged"),
    "truncated vocabulary": (truncate("vocabulary.json"), "vocabulary.json is damaged"),
    "truncated manifest": (truncate("manifest.json"), "manifest.json is damaged"),
    "edited vocabulary": (
        lambda f: (f / "vocabulary.json").write_text((f / "vocabulary.json").read_text().replace("Port-0a", "Port-Xa")),
        "vocabulary.json is damaged or was changed",
    ),
    "edited manifest": (lambda f: edit_manifest(f, training={}), "changed by hand"),
    "newer version": (lambda f: edit_manifest(f, version=99), "newer carat"),
    "other format": (lambda f: edit_manifest(f, format="zip"), "not a carat model"),
    "file gone": (lambda f: (f / "reference.safetensors").unlink(), "reference.safetensors is missing"),
    "manifest gone": (lambda f: (f / "manifest.json").unlink(), "manifest.json is missing"),
}


@pytest.mark.parametrize("kind", list(DAMAGE))
def test_damage_is_refused(kind: str, folder: Path) -> None:
    damage, message = DAMAGE[kind]
    damage(folder)
    with pytest.raises(ModelFolderError, match=message):
        carat.load(folder)


def test_not_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match="no such model folder"):
        carat.load(tmp_path / "nothing")


def test_nothing_is_pickled(folder: Path) -> None:
    assert {file.suffix for file in folder.iterdir()} == {".json", ".safetensors"}
    for file in folder.glob("*.safetensors"):
        # A safetensors file begins with the length of its JSON header; a pickle or a zip does not.
        blob = file.read_bytes()
        json.loads(blob[8 : 8 + int.from_bytes(blob[:8], "little")])


def test_a_manifest_can_not_lead_outside(folder: Path) -> None:
    with pytest.raises(ModelFolderError, match="outside the folder"):
        store._read(folder, "../secret")


def test_existing_is_kept_without_force(folder: Path, planted: pa.Table) -> None:
    before = (folder / "manifest.json").read_bytes()
    other = carat.fit(planted, profile="instant", seed=5)
    with pytest.raises(InputError, match="already exists"):
        other.save(folder)
    assert (folder / "manifest.json").read_bytes() == before
    other.save(folder, force=True)
    assert carat.load(folder).training["seed"] == 5
    assert [path.name for path in folder.parent.iterdir()] == ["model"], "nothing temporary is left"


def test_force_never_replaces_what_is_no_model(tmp_path: Path, planted: pa.Table) -> None:
    (tmp_path / "photos").mkdir()
    with pytest.raises(InputError, match="not a model folder"):
        carat.fit(planted, profile="instant").save(tmp_path / "photos", force=True)


def test_a_failing_write_leaves_the_old_model(folder: Path, planted: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    before = carat.load(folder)

    def broken(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        carat.fit(planted, profile="instant", seed=5).save(folder, force=True)
    monkeypatch.undo()
    assert torch.equal(carat.load(folder).reference, before.reference)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_a_failing_rename_puts_the_old_model_back(
    failure: type[BaseException], folder: Path, planted: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename

    def broken(source: Path, target: Path) -> None:
        if Path(target) == folder and Path(source).name != "model":
            raise failure
        rename(source, target)

    monkeypatch.setattr(os, "rename", broken)
    with pytest.raises(failure):
        carat.fit(planted, profile="instant", seed=5).save(folder, force=True)
    monkeypatch.undo()
    assert carat.load(folder).training["seed"] == 0
    assert [path.name for path in folder.parent.iterdir()] == ["model"]
