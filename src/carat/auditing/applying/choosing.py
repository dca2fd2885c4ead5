"""Which cells of a list are changed: those decided so, those certain enough, and groups as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from carat.arguments import check_flag
from carat.auditing.decisions import CellList, ListedCell
from carat.errors import InputError

CERTAIN = 0.9
"""Undecided proposals are taken over from this confidence on."""
Left = Literal["rejected", "wrong", "no fix", "uncertain", "undecided", "group", "same"]


@dataclass(frozen=True)
class Rules:
    """How sure a proposal must be.

    Args:
        certain: undecided cells are changed where the confidence reaches it.
        decided_only: undecided cells are never changed.
    """

    certain: float = CERTAIN
    decided_only: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.certain, bool) or not isinstance(self.certain, int | float) or not 0 < self.certain <= 1:
            raise InputError(f"`certain` is a probability, above 0 and at most 1; got {self.certain!r}")
        check_flag("decided_only", self.decided_only)


@dataclass(frozen=True, slots=True)
class Choice:
    """A cell that is to be changed.

    Args:
        cell: of the list.
        after: what is put there; "" leaves it empty.
        by: who decided.
    """

    cell: ListedCell
    after: str
    by: Literal["you", "carat"]


@dataclass
class Chosen:
    """What is changed, and how many cells are left as they are, by reason."""

    choices: list[Choice] = field(default_factory=list)
    left: Counter[Left] = field(default_factory=Counter)


def choose(cells: CellList, rules: Rules) -> Chosen:
    """Go through a list; cells that are fixed together are changed together or not at all."""
    found = Chosen()
    undecided = next((cell for cell in cells if cell.decision is None), None)
    if cells.lacks and undecided is not None and not rules.decided_only:
        raise InputError(
            f"{cells.label}: no column '{cells.lacks[0]}', and {cells.unit} {undecided.line} is undecided; put the "
            "column back, or use `decided_only`"
        )
    groups: dict[str, list[ListedCell]] = {}
    for cell in cells:
        # Whoever types another value has left the proposal behind, and the group with it.
        alone = cell.group is None or (cell.decision is not None and cell.decision.word == "text")
        groups.setdefault(f"cell {cell.line}" if alone else f"group {cell.group}", []).append(cell)
    for group in groups.values():
        if len(group) == 1:
            _take(group[0], rules, found)
        else:
            _take_together(group, rules, found, cells)
    return found


def _take(cell: ListedCell, rules: Rules, found: Chosen) -> None:
    after = _after(cell)
    reason = _left(cell, rules)
    if reason is not None or after is None:
        found.left[reason or "no fix"] += 1
    else:
        found.choices.append(Choice(cell, after, "carat" if cell.decision is None else "you"))


def _take_together(group: Sequence[ListedCell], rules: Rules, found: Chosen, cells: CellList) -> None:
    accepted = [cell for cell in group if cell.decision is not None and cell.decision.word == "accept"]
    refused = [cell for cell in group if cell.decision is not None and cell.decision.word in ("reject", "wrong")]
    if accepted and refused:
        raise InputError(
            f"{cells.label}: {cells.unit}s {accepted[0].line} and {refused[0].line} are fixed together (group "
            f"{group[0].group}) but decided differently; decide both the same way, or clear their `group`"
        )
    if accepted:
        without = next((cell for cell in group if cell.proposal is None), None)
        if without is not None:
            raise InputError(
                f"{cells.where(without)}: has no suggested fix, but {cells.unit} {accepted[0].line}, which is fixed "
                "together with it, is accepted; write =text with the right value, or clear their `group`"
            )
        # Half of a swap is worse than none: what is accepted takes the rest of its group along.
        found.choices += [Choice(cell, cell.proposal or "", "you") for cell in group]
        return
    reasons = [_left(cell, rules) for cell in group]
    if not any(reasons):
        found.choices += [Choice(cell, cell.proposal or "", "carat") for cell in group]
        return
    for reason in reasons:
        found.left[reason or "group"] += 1


def _after(cell: ListedCell) -> str | None:
    if cell.decision is not None and cell.decision.word == "text":
        return cell.decision.text
    return cell.proposal


def _left(cell: ListedCell, rules: Rules) -> Left | None:
    """Why a cell stays as it is, as far as it alone decides; None where it may change."""
    if cell.decision is not None:
        kept: dict[str, Left] = {"reject": "rejected", "wrong": "wrong"}
        return kept.get(cell.decision.word)
    if rules.decided_only:
        return "undecided"
    if cell.proposal is None:
        return "no fix"
    return None if cell.confidence is not None and cell.confidence >= rules.certain else "uncertain"
