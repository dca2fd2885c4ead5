"""`fit`: from a table to a `Model`."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time as clock
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from carat.data import Fingerprint, Schema, Table, TrainingData, open_source, scan
from carat.datasets import Dataset
from carat.detectors import FittedDetector, OutsideDetector, Threshold, outside_detector
from carat.detectors.encodings import Encoding
from carat.errors import InputError
from carat.explain import ContextDetector, FittedExplainer, TransformerExplainer, explainer_class
from carat.graph import KnowledgeGraph
from carat.model import Model
from carat.names import named_data, named_detector
from carat.profiles import Profile, profile_named
from carat.training import Progress, Run, Silent, Watched, pick_device
from carat.training.fitted import Fitted

Notify = Callable[[str], None]
_logger = logging.getLogger("carat")


def fit(
    data: Any,
    *,
    domains: Sequence[str] | None = None,
    also: Sequence[str] = (),
    without: Sequence[str] = (),
    numeric: Mapping[str, int] | None = None,
    id: str | None = None,
    time: str | None = None,
    metapaths: Sequence[Sequence[str]] | None = None,
    min_count: int = 1,
    threshold: float | Threshold = 0.01,
    profile: str = "fast",
    detector: Any = None,
    encoding: Encoding | None = None,
    takes: Literal["frame", "ids"] = "frame",
    explainer: str | FittedExplainer | Literal[False] | None = None,
    graph: KnowledgeGraph | bool | None = None,
    seed: int = 0,
    device: str = "auto",
    checkpoints: str | Path | None = None,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Model:
    """Learn what is normal in a table.

    Args:
        data: a frame (pandas, polars, pyarrow), a path, or the name of a dataset.
        domains: columns to model; None takes every text column worth it.
        also: columns to take besides, such as codes that are wholly numbers.
        without: columns to leave out, such as an outcome that is known only later.
        numeric: numeric columns and their number of quantile bins; they become domains.
        id: column that names a record in the outputs.
        time: column that orders the records, for a split by time; `fit` itself holds out at random.
        metapaths: paths of domains that belong together; None discovers them.
        min_count: entities seen fewer times count as unseen.
        threshold: quantile of the held-out scores below which a record is anomalous, or a `Threshold`.
        profile: `instant`, `fast` or `paper`; a named set of defaults.
        detector: `mead`, `ape`, `counts`, `context`, or a detector of your own: a callable, a scikit-learn or PyOD
            detector.
        encoding: how a scikit-learn or PyOD detector sees categories: `onehot`, `ordinal` or `frequency`.
        takes: what a callable is given, a `frame` of text or `ids`.
        explainer: `transformer`, `counts`, an explainer with settings of your own, or False for none.
        graph: True or False for with or without one, or a graph with settings of your own; None follows the profile.
            The methods `carat` and `carat-plus` need it.
        seed: every random choice follows from it; on the CPU, the same seed gives the same model bit for bit.
        device: `auto`, `cpu` or `cuda`.
        checkpoints: a folder from which a killed fit is resumed when called again with the same arguments.
        progress: where to show progress.
        notify: called with every line for a user of the command line; without it, the logger `carat` gets the warnings.
    """
    defaults = profile_named(profile)
    chosen = _make_detector(detector, defaults, encoding, takes)
    explaining = _make_explainer(explainer, defaults)
    linking = _make_graph(graph, defaults, explaining)
    if isinstance(chosen, ContextDetector):
        if explaining is None:
            raise InputError("the detector 'context' is the explainer; it can't be fitted without one")
        chosen.attach(explaining)
    quantile = threshold if isinstance(threshold, Threshold) else Threshold(quantile=threshold)
    run = Run(
        seed=seed,
        device=pick_device(device),
        progress=progress or Silent(),
        checkpoints=None if checkpoints is None else Path(checkpoints),
    )
    began = clock.monotonic()
    data = named_data(data)
    given: dict[str, Any] = {"domains": domains, "numeric": numeric, "id": id, "time": time, "metapaths": metapaths}
    if isinstance(data, Dataset):
        given = _with_defaults(given, data.schema, without)
        data = data.table
    source = Watched(open_source(data), run.progress, "reading entities", "reading records")
    found = scan(source, **given, also=also, without=without, min_count=min_count)
    if notify is not None:
        notify(found.domains_line())
    for line in (found.left_out_line(hint=notify is not None), found.crowded_line()):
        if line is not None:
            (notify or _logger.warning)(line)
    table = Table.read(source, found.schema, found.vocabulary, found.rows)
    if linking is not None and found.schema.metapaths and not linking.metapaths:
        linking.metapaths = found.schema.metapaths
    if run.checkpoints is not None:
        _claim(run.checkpoints, table, found.schema, [part for part in (chosen, explaining, linking) if part], seed)
    counting = run.progress.stage("counting pairs", len(found.vocabulary) * (len(found.vocabulary) - 1) // 2)
    parts = TrainingData.split(table.ids, found.vocabulary, seed=seed, advance=counting.advance)
    pairs = parts.pairs
    if isinstance(chosen, OutsideDetector):
        chosen.attach(found.vocabulary, data)
    # The detector first: it is quick, and what is wrong with one from outside should not wait for the explainer. The
    # context detector is the explainer, so there it is the other way round.
    explainer_first = isinstance(chosen, ContextDetector)
    if explaining is not None and explainer_first:
        explaining.fit(parts, run)
    reference = chosen.fit(parts, run).score(parts.held_out).cpu().sort().values
    if explaining is not None and not explainer_first:
        explaining.fit(parts, run)
    if linking is not None:
        linking.fit(parts, run)
    return Model(
        schema=found.schema,
        vocabulary=found.vocabulary,
        pairs=pairs,
        detector=chosen,
        explainer=explaining,
        reference=reference,
        threshold=quantile,
        graph=linking,
        training={
            "source": source.label,
            "records": len(parts.train),
            "held_out": len(parts.held_out),
            "fingerprint": Fingerprint().add(table.ids).text(),
            "left_out": dict(found.left_out),
            "min_count": min_count,
            "profile": profile,
            "seed": seed,
            "device": run.device.type,
            "seconds": round(clock.monotonic() - began, 2),
        },
    )


def _with_defaults(given: dict[str, Any], schema: Schema, without: Sequence[str]) -> dict[str, Any]:
    """A dataset brings its own schema; metapaths only while all of their domains are there."""
    known = schema.to_json()
    merged = {key: known[key] if value is None else value for key, value in given.items()}
    if given["metapaths"] is None and merged["metapaths"] is not None:
        kept = set(merged["domains"]) - set(without)
        merged["metapaths"] = [path for path in merged["metapaths"] if set(path) <= kept] or None
    return merged


def _make_detector(
    detector: Any, defaults: Profile, encoding: Encoding | None, takes: Literal["frame", "ids"]
) -> FittedDetector | OutsideDetector:
    if detector is None or isinstance(detector, str):
        return named_detector(detector or defaults.detector)
    if isinstance(detector, FittedDetector):
        return detector
    return outside_detector(detector, encoding=encoding, takes=takes)


def _make_explainer(
    explainer: str | FittedExplainer | Literal[False] | None, defaults: Profile
) -> FittedExplainer | None:
    if explainer is False:
        return None
    if isinstance(explainer, FittedExplainer):
        return explainer
    name = explainer or defaults.explainer
    return explainer_class(name)(**(defaults.explainer_params if name == defaults.explainer else {}))


def _make_graph(
    graph: KnowledgeGraph | bool | None, defaults: Profile, explainer: FittedExplainer | None
) -> KnowledgeGraph | None:
    """Without a trained explainer no method asks for a graph, so by default there is none either."""
    if isinstance(graph, KnowledgeGraph):
        return graph
    wanted = isinstance(explainer, TransformerExplainer) if graph is None else graph
    return KnowledgeGraph(**defaults.graph_params) if wanted else None


def _claim(
    checkpoints: Path,
    table: Table,
    schema: Schema,
    parts: Sequence[Fitted | OutsideDetector],
    seed: int,
) -> None:
    """Mark a checkpoint folder as this fit's, or refuse the folder of another one."""
    settings = [part.describe() if isinstance(part, OutsideDetector) else [part.name, part.params()] for part in parts]
    fingerprint = {
        "data": Fingerprint().add(table.ids).text(),
        "vocabulary": hashlib.sha256(json.dumps(table.vocabulary.to_json()).encode()).hexdigest(),
        "schema": schema.to_json(),
        "parts": settings,
        "seed": seed,
    }
    file = checkpoints / "fit.json"
    if file.exists():
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{file}: is damaged; start again with --force") from error
        if found != json.loads(json.dumps(fingerprint)):
            raise InputError(
                f"{checkpoints}: is of a fit with other data or settings; give those, or start again with --force"
            )
        return
    checkpoints.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".tmp")
    temporary.write_text(json.dumps(fingerprint), encoding="utf-8")
    os.replace(temporary, file)
