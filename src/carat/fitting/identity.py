"""What a model is known by: a hash over everything that decides its answers, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from torch import Tensor

PARTS = ("detector", "explainer", "graph")
KEPT = ("held_out",)
"""Files that decide no answer; they are kept for later updates."""
HISTORY = "history"
"""The one fact of a part that tells how it was trained and not what it answers; it holds times."""


def identity_of(
    facts: Mapping[str, Any], documents: Mapping[str, Any], tensors: Mapping[str, Mapping[str, Tensor]]
) -> str:
    """The identity of a model, 16 hexadecimal digits.

    It covers schema, vocabulary, tensors, threshold, gate, blends and the settings of every part; not the version of
    carat, not when, where or from which file the model was fitted. A detector from outside is known by its name and
    options alone.

    Args:
        facts: `schema`, `threshold`, `gate`, `blends`, `detector`, `explainer`, `graph` as in the manifest.
        documents: `vocabulary`.
        tensors: by file and name.
    """
    digest = hashlib.sha256()
    deciding = {
        "schema": facts["schema"],
        "threshold": facts["threshold"],
        **{name: _deciding(facts.get(name)) for name in PARTS},
        **documents,
    }
    # Models without a gate or learned weights are known by what they were known by before there were any.
    deciding |= {name: facts[name] for name in ("gate", "blends") if facts.get(name)}
    digest.update(json.dumps(deciding, ensure_ascii=False, sort_keys=True).encode())
    for file in sorted(tensors.keys() - KEPT):
        for name in sorted(tensors[file]):
            tensor = tensors[file][name].detach().cpu().contiguous()
            digest.update(f"{file}/{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.view(-1).numpy().tobytes())
    return digest.hexdigest()[:16]


def _deciding(part: Any) -> Any:
    """What decides a part's answers: all but how it, and the parts inside it, were trained."""
    if not isinstance(part, Mapping):
        return part
    return {name: _deciding(value) for name, value in part.items() if name != HISTORY}
