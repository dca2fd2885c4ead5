"""Checkpoints: one safetensors file a stage, replaced in one step, never pickled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from carat.errors import InputError
from carat.files import replacing


def write_checkpoint(path: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Tensors and a JSON state in one file; a kill at any moment leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with replacing(path) as temporary:
        save_file(contiguous, temporary, metadata={"state": json.dumps(state)})


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """What `write_checkpoint` wrote, or None where there is no such file."""
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(metadata["state"])  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError) as error:
        raise InputError(f"{path}: a damaged checkpoint; delete the folder and start again") from error


def pack(network: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """Weights and optimizer state under flat names."""
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    for number, slots in optimizer.state_dict()["state"].items():
        for slot, value in slots.items():
            tensors[f"optimizer.{number}.{slot}"] = value
    return tensors


def unpack(tensors: dict[str, Tensor], network: nn.Module, optimizer: Optimizer) -> None:
    """Put the tensors of `pack` back in place."""
    network.load_state_dict(part(tensors, "network."))
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in part(tensors, "optimizer.").items():
        number, slot = name.split(".", 1)
        state.setdefault(int(number), {})[slot] = tensor
    # The parameter groups (learning rate and so on) are rebuilt from the plan.
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose name starts with the prefix, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
