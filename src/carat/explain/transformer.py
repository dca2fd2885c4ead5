"""The paper's explainer: encoder, decoder-R, decoder-P, trained in three stages."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, Literal, Self

import torch
from torch import Tensor
from torch.nn import functional

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, MISSING, Vocabulary
from carat.explain.base import PART_ROWS, PART_ROWS_ON_GPU, FittedExplainer, calibrate, held_out_corruptions
from carat.explain.calibration import Calibration, mixing_share
from carat.explain.encoder import RowEncoder
from carat.explain.likelihood import LikelihoodNetwork, LikelihoodTask
from carat.explain.reconstruction import ReconstructionNetwork, ReconstructionTask
from carat.threads import side_by_side
from carat.training import History, Plan, Run, train
from carat.training.box import Training
from carat.training.checkpoint import part

StageName = Literal["pretrain", "decoder-p", "fine-tune"]
STAGES: tuple[StageName, ...] = ("pretrain", "decoder-p", "fine-tune")
READ_ROWS = 512
"""Versions of records read at once on a CPU."""
READ_ROWS_ON_GPU = 65_536
"""The same on a GPU."""
LOOK_ROWS = 64
"""Records that decoder-P looks at on a CPU in one thread: what it holds in between fits the caches."""
CELLS = 32_000_000
"""Upper limit on the log-probabilities held at once: fewer records are read where a domain has very many entities."""


class TransformerExplainer(FittedExplainer):
    """Which entities do not belong, by a transformer over the record.

    Three stages: `pretrain` (encoder with decoder-R), `decoder-p` (on the frozen encoder: the paper), `fine-tune`
    (a copy of both, trained together). `likelihood` uses the fine-tuned pair, and the frozen one beside it as far as
    held-out records show that it helps; `frozen` gives the paper's, and `log_probability` asks decoder-R which entities
    would fit.

    Args:
        dim: d; the transformer is 2 d wide.
        layers: transformer layers.
        heads: attention heads.
        dropout: inside the transformer.
        bilinear: outputs of decoder-P's bilinear layer.
        epochs: of the three stages.
        batch_size: records a step.
        learning_rate: of the first two stages.
        tuning_rate: of the third.
        schedule: `one-cycle` or `constant`.
        keep_best: keep the weights with the best held-out loss in the first two stages too; the paper keeps the last.
        sampled_above: domains with more entities use a sampled softmax in decoder-R.
    """

    name = "transformer"

    pretrained_: ReconstructionNetwork
    frozen_: LikelihoodNetwork
    tuned_: LikelihoodNetwork
    frozen_share_: float
    """Weight of the frozen pair's logits in the likelihood, from held-out corruptions; 0 leaves it out."""
    calibration_: dict[str, Calibration]
    history_: dict[str, History]

    def __init__(
        self,
        *,
        dim: int = 32,
        layers: int = 2,
        heads: int = 4,
        dropout: float = 0.0,
        bilinear: int = 16,
        epochs: tuple[int, int, int] = (18, 10, 10),
        batch_size: int = 256,
        learning_rate: float = 3e-3,
        tuning_rate: float = 1e-3,
        schedule: Literal["one-cycle", "constant"] = "one-cycle",
        keep_best: bool = True,
        sampled_above: int = 20_000,
    ) -> None:
        self.dim = dim
        self.layers = layers
        self.heads = heads
        self.dropout = dropout
        self.bilinear = bilinear
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.tuning_rate = tuning_rate
        self.schedule = schedule
        self.keep_best = keep_best
        self.sampled_above = sampled_above

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Train the three stages one after the other."""
        run = run or Run()
        self.device_ = run.device
        self.history_ = {}
        with run.seeded("explainer"):
            self._build(data.vocabulary)
        for name, network in self._networks().items():
            self._started(network, data.vocabulary, f"{name}.")
        self._train("pretrain", self.pretrained_, data, run)
        self.frozen_.encoder.load_state_dict(self.pretrained_.encoder.state_dict())
        self._train("decoder-p", self.frozen_, data, run)
        self.tuned_.load_state_dict(self.frozen_.state_dict())
        self._train("fine-tune", self.tuned_, data, run)
        self._calibrate(data, run)
        return self

    def trainings(self, data: TrainingData, run: Run) -> Iterator[Training]:
        """The three stages; how well the encoder is trained makes no difference to the time."""
        apart = self.clone()
        with run.seeded("explainer"):
            apart._build(data.vocabulary)
        networks = {"pretrain": apart.pretrained_, "decoder-p": apart.frozen_, "fine-tune": apart.tuned_}
        for stage in STAGES:
            yield Training(stage, networks[stage], data.train, self._plan(stage, len(data.train)), data.held_out)

    def _build(self, vocabulary: Vocabulary) -> None:
        encoder = RowEncoder(vocabulary, dim=self.dim, layers=self.layers, heads=self.heads, dropout=self.dropout)
        task = ReconstructionTask(sampled_above=self.sampled_above)
        self.pretrained_ = ReconstructionNetwork(vocabulary, encoder, task)
        self.frozen_, self.tuned_ = (
            LikelihoodNetwork(vocabulary, copy.deepcopy(encoder), LikelihoodTask(), bilinear=self.bilinear, tune=tune)
            for tune in (False, True)
        )

    def _plan(self, stage: StageName, records: int) -> Plan:
        number = STAGES.index(stage)
        tuning = stage == "fine-tune"
        plan = Plan(
            epochs=self.epochs[number],
            batch_size=self.batch_size,
            learning_rate=self.tuning_rate if tuning else self.learning_rate,
            schedule="one-cycle" if tuning else self.schedule,
            keep_best=tuning or self.keep_best,
            accelerate=True,
        )
        return plan.for_records(records)

    def _train(
        self,
        stage: StageName,
        network: ReconstructionNetwork | LikelihoodNetwork,
        data: TrainingData,
        run: Run,
    ) -> None:
        plan = self._plan(stage, len(data.train))
        label = f"explainer {STAGES.index(stage) + 1} of 3, {stage}"
        held_out = data.held_out
        self.history_[stage] = train(network, data.train, plan, run, stage=stage, label=label, validation=held_out)

    def recalibrate(self, data: TrainingData, run: Run) -> Self:
        """Calibrate again on other held-out records; the networks stay as they are."""
        known = TrainingData(self.legible(data.train), self.legible(data.held_out), data.vocabulary.learned)
        self._calibrate(known, run)
        return self

    def _calibrate(self, data: TrainingData, run: Run) -> None:
        """Also how much the frozen pair adds to the fine-tuned one: half at most, often nothing."""
        ids, replaced = held_out_corruptions(data, run)
        stage = run.observer.stage("calibrating", 2 * len(ids))
        tuned, frozen = (self._in_parts(network, ids, PART_ROWS, stage) for network in (self.tuned_, self.frozen_))
        known = ids >= FIRST
        self.frozen_share_ = mixing_share(tuned[known], frozen[known], ~replaced[known])
        mixed = torch.lerp(tuned, frozen, self.frozen_share_)
        self.calibration_ = {
            "frozen": calibrate(frozen, ids, replaced),
            "tuned": calibrate(mixed, ids, replaced),
        }

    def logits(self, ids: Tensor) -> Tensor:
        """Calibrated logits float32 [n, m]; NaN where an entity is missing."""
        return self._looked(self._logits_part, ids)

    def _looked(self, function: Callable[[Tensor], Tensor], ids: Tensor) -> Tensor:
        """As `_in_parts`; on a CPU in small parts side by side."""
        if len(ids) <= LOOK_ROWS or not hasattr(self, "device_") or self.device_.type != "cpu":
            return self._in_parts(function, ids, self._part_rows())
        return torch.cat(side_by_side(lambda part: self._in_parts(function, part, LOOK_ROWS), ids.split(LOOK_ROWS)))

    def _logits(self, ids: Tensor) -> Tensor:
        return self.calibration_["tuned"].apply(self._mixed(ids))

    def _mixed(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.tuned_(ids)
        if self.frozen_share_:
            logits = torch.lerp(logits, self.frozen_(ids), self.frozen_share_)
        return logits

    def read(self, base: Tensor, records: Tensor, *, short: bool = False) -> Tensor:
        """Log-likelihood of whole records: versions int64 [n, C, m] of records [n, m] → [n, C].

        By the fine-tuned pair alone: it is quicker, and all versions are read by the same eyes.

        Args:
            base: the records.
            records: the versions.
            short: in numbers of 16 bits, where the processor multiplies those by itself: off by hundredths of a nat, in
                a third of the time.
        """
        on_cpu = self.device_.type == "cpu"
        rows = max((READ_ROWS if on_cpu else READ_ROWS_ON_GPU) // max(records.shape[1], 1), 1)
        parts = list(zip(base.split(rows), records.split(rows), strict=True)) if len(base) else []
        short = short and on_cpu and multiplies_short()
        read = side_by_side(lambda part: self._read_part(*part, short), parts, most=None if on_cpu else 1)
        return torch.cat([torch.empty((0, records.shape[1]), device=self.device_), *read]).to(base.device)

    def _read_part(self, base: Tensor, records: Tensor, short: bool) -> Tensor:
        """What `read` gives for some of them, on the explainer's device."""
        mine, records = base.to(self.device_), records.to(self.device_)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=short):
            raw = self.tuned_.read(self.legible(mine), self.legible(records)).float()
            likelihood = functional.logsigmoid(self.calibration_["tuned"].apply(raw))
            likelihood = likelihood.masked_fill(records == MISSING, 0)
            # Of an entity that it never met it can't say whether it belongs: one half.
            return likelihood.masked_fill(self.later(records), math.log(0.5)).sum(dim=2)

    @property
    def frozen(self) -> FrozenExplainer:
        """The paper's explainer: decoder-P on the frozen encoder."""
        return FrozenExplainer(self)

    def log_probability(self, ids: Tensor, targets: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
        """What decoder-R would put in the target domains; see `ReconstructionNetwork.log_probability`.

        Entities that came with an update have no place in it: the rows end where they would begin.

        The records [b] are rows of all ids, and everything is on their device.
        """
        size = min(PART_ROWS if self.device_.type == "cpu" else PART_ROWS_ON_GPU, self._most_rows)
        for start in range(0, len(ids), size):
            part = slice(start, start + size)
            known = self.legible(ids[part].to(self.device_))
            found = self.pretrained_.log_probability(known, targets[part].to(self.device_))
            for domain, rows, log_probability in found:
                yield domain, (rows + start).to(ids.device), log_probability.to(ids.device)

    def standing(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """What decoder-R says of every entity of records ids [n, m] with that entity alone masked, [n, m] each.

        The log-probability of the entity (NaN where it is missing or unseen) and that of the best one.
        """

        def part_of(part: Tensor) -> Tensor:
            x = part.to(torch.int64)
            own, best = (torch.empty(x.shape, device=x.device) for _ in range(2))
            for domain, found in self.pretrained_.each_masked(x):
                mine = (x[:, domain, None] - FIRST).clamp(min=0)
                own[:, domain], best[:, domain] = found.gather(1, mine).squeeze(1), found.amax(dim=1)
            return torch.stack([own.masked_fill(x < FIRST, torch.nan), best], dim=2)

        rows = min(max(READ_ROWS // max(ids.shape[1], 1), 1), self._most_rows)
        own, best = self._in_parts(part_of, ids, rows).unbind(dim=2)
        return own, best

    @property
    def _most_rows(self) -> int:
        """Records of which all entities of the largest domain may be weighed at once."""
        largest: int = max(self.pretrained_.decoder.entities)
        return max(CELLS // largest, 1)

    def _networks(self) -> dict[str, torch.nn.Module]:
        """The frozen pair stores its decoder alone: its encoder is the pre-trained one."""
        return {"pretrained": self.pretrained_, "frozen": self.frozen_.decoder, "tuned": self.tuned_}

    def tensors(self) -> dict[str, Tensor]:
        """The weights of all networks."""
        return {
            f"{name}.{key}": tensor
            for name, network in self._networks().items()
            for key, tensor in network.state_dict().items()
        }

    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Rebuild the networks around the weights."""
        with torch.random.fork_rng(devices=[]):
            self._build(self._learned(vocabulary))
        for name, network in self._networks().items():
            network.load_state_dict(part(dict(tensors), f"{name}."))
        self.frozen_.encoder.load_state_dict(self.pretrained_.encoder.state_dict())
        for network in (self.pretrained_, self.frozen_, self.tuned_):
            network.eval()

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        self.device_ = torch.device(device)
        for network in (self.pretrained_, self.frozen_, self.tuned_):
            network.to(self.device_)
        return self

    def facts(self) -> dict[str, Any]:
        """How training went, and the calibration."""
        return {
            "history": {stage: asdict(history) for stage, history in self.history_.items()},
            "frozen_share": self.frozen_share_,
            "calibration": {kind: calibration.to_json() for kind, calibration in self.calibration_.items()},
        }

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        super().restore_facts(facts)
        self.history_ = {stage: History(**history) for stage, history in facts["history"].items()}
        self.frozen_share_ = float(facts.get("frozen_share", 0.0))
        self.calibration_ = {kind: Calibration(**known) for kind, known in facts["calibration"].items()}


@cache
def multiplies_short() -> bool:
    """Whether this processor multiplies numbers of 16 bits (bfloat16) by itself; elsewhere they are slower."""
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


class FrozenExplainer:
    """A view of a `TransformerExplainer` through its frozen encoder, as the paper has it."""

    def __init__(self, explainer: TransformerExplainer) -> None:
        self._explainer = explainer

    def likelihood(self, ids: Tensor) -> Tensor:
        """Likelihoods float32 [n, m] in 0..1; NaN where an entity is missing."""
        explainer = self._explainer
        calibration = explainer.calibration_["frozen"]

        def part_of(ids: Tensor) -> Tensor:
            logits = calibration.apply(explainer.frozen_(ids.to(torch.int64))).float()
            return logits.sigmoid().masked_fill(ids == 0, torch.nan)

        return explainer._looked(part_of, ids)
