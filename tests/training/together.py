"""What the processes of a team do in the tests: train every shared network, and say how that went.

Run by torchrun, or by itself as one process: `python together.py FOLDER`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

from carat.detectors import Ape, Mead
from carat.errors import InputError
from carat.graph import KnowledgeGraph
from carat.testing.parts import small_explainer, training_data
from carat.training import Run
from carat.training.fitted import Fitted
from carat.training.team import Team, joined

PARTS: dict[str, Any] = {
    "mead": lambda: Mead(epochs=6),
    "ape": lambda: Ape(epochs=6),
    "graph": lambda: KnowledgeGraph(epochs=4),
    "explainer": lambda: small_explainer(epochs=(3, 2, 2)),
    # Draws its negatives among a domain's entities, as in large domains.
    "sampled": lambda: small_explainer(epochs=(2, 1, 1), sampled_above=5),
}


def told(part: Fitted) -> dict[str, Any]:
    """Losses of a training, and a number that stands for all weights."""
    facts = part.facts()["history"]
    stages = facts if "train" not in facts else {"all": facts}
    return {name: {"train": each["train"], "validation": each["validation"]} for name, each in stages.items()}


def fitted(name: str, team: Team, checkpoints: Path | None = None) -> Fitted:
    """One part, trained by the team."""
    part: Fitted = PARTS[name]()
    part.fit(training_data(), Run(team=team, checkpoints=checkpoints if team.leads else None))
    return part


def main(folder: Path) -> None:
    """Train all parts; every process writes down what it has."""
    with joined() as team:
        found: dict[str, Any] = {name: told(fitted(name, team)) for name in PARTS}
        found["taken up"] = told(fitted("mead", team, folder / "checkpoints"))
        first, again = fitted("mead", team).tensors(), fitted("mead", team).tensors()
        found["repeats"] = all(torch.equal(first[name], again[name]) for name in first)
        found["sum"] = float(first["vectors"].double().sum())
        try:
            team.check_same(team.rank, "other rows")
        except InputError as error:
            found["refused"] = str(error)
    (folder / f"{os.environ.get('RANK', 'alone')}.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
