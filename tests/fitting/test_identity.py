"""A model's identity: the same for the same answers, another for others; and folders written before it existed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import carat
from carat.cli import run
from carat.fitting.store import stored_identity
from tests.support.fitted import frame
from tests.support.planted import planted_table

FOLDERS = Path(__file__).parent / "folders"
"""Written by carat before models had an identity; `answers.json` holds what that carat said of some rows."""


def test_same_table_same_seed_same_identity(tmp_path: Path) -> None:
    first, again = (carat.fit(planted_table(300), detector="ape", explainer=False, device="cpu") for _ in range(2))
    assert first.identity == again.identity
    assert len(first.identity) == 16
    assert first.training["seconds"] >= 0, "times are there, and not in the identity"
    first.save(tmp_path / "m")
    assert carat.load(tmp_path / "m").identity == first.identity == stored_identity(tmp_path / "m")


def test_whatever_changes_answers_changes_it() -> None:
    table = planted_table(300)
    model = carat.fit(table, profile="instant")
    assert model.gate is not None
    others = [
        carat.fit(table, profile="instant", seed=1),
        carat.fit(table.slice(1), profile="instant"),
        carat.fit(table, profile="instant", detector="mead"),
        carat.fit(table, profile="instant", explainer=carat.explain.CountsExplainer(smoothing=0.2)),
        carat.fit(table.rename_columns(["A", "B", "C", "D"]), profile="instant"),
        carat.fit(table, profile="instant", explainer=False),
        carat.fit(table, profile="instant", memory=False),
        model.with_threshold(0.05),
        model.with_gate("score"),
        replace(model, gate=replace(model.gate, by_alarm=0.4)),
        replace(model, gate=replace(model.gate, pairs=model.gate.pairs[1:])),
    ]
    assert len({model.identity, *(other.identity for other in others)}) == 1 + len(others)
    assert model.with_threshold(0.01).identity == model.identity


def test_inspect_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = carat.fit(planted_table(300), profile="instant")
    model.save(tmp_path / "m")
    assert run(["inspect", str(tmp_path / "m")]) == 0
    assert model.identity in capsys.readouterr().out
    for folder in (tmp_path / "m", FOLDERS / "instant"):
        assert run(["inspect", str(folder), "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["identity"] == carat.load(folder).identity
        assert "sketch" not in shown["training"], "thousands of hashes are not for reading"


def same(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert len(found) == len(expected)
    for row, wanted in zip(found, expected, strict=True):
        numbers = {name for name, value in wanted.items() if isinstance(value, float)}
        assert {name: row[name] for name in row if name not in numbers} == {
            name: wanted[name] for name in wanted if name not in numbers
        }
        for name in numbers:
            # Another processor may round the last bits otherwise; on the same one they are equal.
            assert row[name] == pytest.approx(wanted[name], rel=1e-4, abs=1e-5), name


@pytest.mark.parametrize("name", ["instant", "small"])
def test_old_folders_load_and_answer_the_same(name: str) -> None:
    written = json.loads((FOLDERS / "answers.json").read_text(encoding="utf-8"))
    rows, answers = frame(written["rows"]), written["answers"][name]
    model = carat.load(FOLDERS / name)
    scored = model.score(rows)
    assert scored["alarm"].null_count == len(scored), "such a model has no judge"
    same(scored.drop_columns(["alarm"]).to_pylist(), answers.pop("score"))
    same(model.explain(rows).to_pylist(), answers.pop("explain"))
    assert answers
    for method, expected in answers.items():
        same(model.recourse(rows, k=4, all=True, method=method).to_arrow().to_pylist(), expected)
