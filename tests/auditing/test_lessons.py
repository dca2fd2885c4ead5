"""What the judge learns from: other rows than it judges, and copies that can't be told from the table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from carat.auditing import judging
from carat.auditing.contained import Relations
from carat.auditing.judging import FOLDS, NETWORKS, Jury, fold_of
from carat.auditing.proposals import SURE, Proposed
from carat.auditing.signals import Eyes, Plan, _own_ways
from carat.auditing.table import AuditTable
from carat.auditing.texts import value_texts
from carat.auditing.trust import Trust
from carat.observing import Silent, Stage
from carat.training import Run


class Constant(torch.nn.Module):
    """Says the same of every cell."""

    def __init__(self, logit: float) -> None:
        super().__init__()
        self.logit = logit

    def forward(self, told: torch.Tensor) -> torch.Tensor:
        return torch.full(told.shape[:-1], self.logit)


def test_a_fold_learns_from_its_own_rows_and_judges_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell's one signal is the fold of its row: whoever sees it knows whom it learned from."""
    rows = torch.arange(400)
    fold = fold_of(rows)
    told = fold.float()[:, None, None].expand(-1, 3, 1).contiguous()
    slips = (torch.arange(1200).reshape(400, 3) % 7 == 0).long()
    copy: Any = SimpleNamespace(sight=SimpleNamespace(told=told), slips=slips)
    learned_from: dict[str, set[float]] = {}

    def networks(cells: torch.Tensor, wrong: torch.Tensor, run: Run, names: list[str], stage: Stage) -> list[Any]:
        learned_from.update({name: set(cells.flatten().tolist()) for name in names})
        return [Constant(float(name.split()[2])) for name in names]

    monkeypatch.setattr(judging, "_networks", networks)
    lessons: Any = SimpleNamespace(copies=[copy, copy])
    barred = torch.zeros((400, 3), dtype=torch.bool)
    stage = Silent().stage("", None)
    jury = judging._learn(lessons, rows, barred, Run(seed=0), 0, stage, None)
    assert len(learned_from) == FOLDS * NETWORKS
    for name, seen in learned_from.items():
        assert seen == {float(name.split()[2])}, "a network of a fold learns from rows of that fold alone"
    plain = Jury(jury.networks, 1.0, 0.0, 0.2)
    judged_by = -plain.logits(told, rows)
    assert torch.equal(judged_by, (1 - fold).float()[:, None].expand(-1, 3)), "and judges the rows of the other"


def test_proposals_are_trusted_by_what_other_rows_taught() -> None:
    rows = np.arange(100)
    told = np.zeros((100, len(SURE)), dtype=np.float32)
    none = np.zeros(100, dtype=bool)
    proposed = Proposed(rows, np.zeros(100, dtype=np.int64), ["x"] * 100, [[]] * 100, told, np.zeros(100), none)
    networks: Any = (Constant(-20.0), Constant(20.0))
    right = Trust(networks).right(proposed)
    assert np.allclose(right, 1 - fold_of(torch.from_numpy(rows)).numpy(), atol=1e-6)


def test_a_slip_that_keeps_the_shape_ranks_like_an_untouched_cell() -> None:
    """A copy has a slip more than the table had. If that showed in the ranks, the judge would learn to see it."""
    names = ["Leith", "Porto", "Genoa", "Turku", "Dover", "Cadiz"]
    cells = [names[n % 6] for n in range(120)]
    before = AuditTable.of(pa.table({"City": cells, "X": ["a", "b"] * 60}))
    spoilt = list(cells)
    spoilt[0] = "Leigh"  # all of its pairs of letters but two are those of the column
    after = AuditTable.of(pa.table({"City": spoilt, "X": ["a", "b"] * 60}))
    eyes = Eyes(before, Plan((), (0, 1), None, Relations(())))
    copy = Eyes(after, eyes.plan, eyes)
    untouched, slipped = eyes.look(torch.arange(120)), copy.look(torch.arange(120))
    for name in ("coarse shape, rank", "fine shape, rank"):
        assert float(slipped[name][0, 0]) == pytest.approx(float(untouched[name][0, 0]), abs=1e-6), name
    # The cells that nobody touched look as they did, in all that is said of them.
    assert torch.equal(slipped.told[1:], untouched.told[1:])


def test_what_values_are_made_of() -> None:
    """`al_pn-6` is made of the state and the measure: nothing else belongs into it."""
    states = ["al", "ak", "az", "ar"] * 30
    measures = [f"pn-{n % 5 + 2}" for n in range(120)]
    codes = [f"{state}_{measure}" for state, measure in zip(states, measures, strict=True)]
    table = AuditTable.of(pa.table({"code": codes, "state": states, "measure": measures}))
    found = Relations.of(table, (0, 1, 2))
    assert set(found.pairs) == {(0, 1), (0, 2)}
    assert found.rests == {0: frozenset({"_"})}
    codes[4] = codes[4].replace("_", "x")
    spoilt = AuditTable.of(pa.table({"code": codes, "state": states, "measure": measures}))
    told = found.told(spoilt, (0, 1, 2), np.array([3, 4]))
    assert told[0, 0] == 2
    assert told[1, 0] == -1, "it holds both, and something else"


def test_an_affix_that_rows_ask_for_is_no_slip() -> None:
    table = AuditTable.of(pa.table({"a": ["32"] * 30 + ["32A"] * 8 + ["32%"] * 8 + ["40"] * 30 + ["40A"] * 2}))
    known = value_texts(table, (0,))[0]
    values = table.columns[0].values
    pattern = {text: known.pattern[values.index(text)] for text in values}
    assert pattern["32A"] == "drop 'A'"
    assert pattern["32%"] == "drop '%'"
    codes = table.columns[0].codes
    asked = np.array([2.0 if values[code].endswith("A") else 0.0 for code in codes.tolist()])
    habits = _own_ways(known, codes, asked)
    assert habits == {"drop 'A'"}
    left = known.without(habits)
    assert left.rewritten[values.index("32A")] is None
    assert left.rewritten[values.index("32%")] == "32"
    few = np.isin(codes, [values.index("40A")])
    assert not _own_ways(known, codes[few], asked[few]), "two cells are no habit"
