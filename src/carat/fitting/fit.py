"""`fit`: from a table to a `Model`, in two steps that can be taken one by one: `prepare`, then `fit_prepared`."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, Unpack

import torch

from carat.arguments import check_flag, check_path, check_seed
from carat.data import ColumnOptions, Columns, Fold, Sketch, TrainingData
from carat.data.sources import NotUtf8Error
from carat.detectors import OutsideDetector
from carat.detectors.encodings import Encoding
from carat.devices import pick_device
from carat.errors import InputError
from carat.explain import ContextDetector, FittedExplainer, Judge
from carat.files import write_text
from carat.fitting.boxing import boxed
from carat.fitting.gating import set_gate
from carat.fitting.model import Model
from carat.fitting.prepare import Prepared, prepare
from carat.fitting.recipe import Recipe
from carat.fitting.usual import usual_of
from carat.graph import KnowledgeGraph
from carat.observing import Observer, Silent, watching
from carat.protocols import GridDetector
from carat.recourse import Blend, Guided
from carat.recourse.blend import learn_blend, learn_sets
from carat.recourse.lookalikes import lookalikes
from carat.registry import METHODS
from carat.results.scale import Threshold
from carat.training import Run
from carat.training.fitted import Fitted
from carat.training.team import Team, joined

BLENDED = ("instant", "carat-plus")
"""The methods whose opinions are weighed."""


def fit(
    data: Any,
    *,
    profile: str = "fast",
    detector: Any = None,
    encoding: Encoding | Literal["auto"] | None = "auto",
    takes: Literal["frame", "ids"] = "frame",
    explainer: str | FittedExplainer | Literal[False] | None = None,
    memory: bool = True,
    graph: KnowledgeGraph | bool | None = None,
    threshold: float | Threshold = 0.01,
    start: Model | str | Path | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    device: str = "auto",
    checkpoints: str | Path | None = None,
    distributed: bool = False,
    progress: bool | Observer = False,
    **columns: Unpack[ColumnOptions],
) -> Model:
    """Learn what is normal in a table.

    The model learns which values go together in its domains (the columns that take part). By default these are the
    text columns in which values repeat.

    Nothing you pass in is changed: detectors, explainers and graphs are cloned before they are fitted.

    Args:
        data: a frame (pandas, polars, pyarrow), a dictionary of columns, a path, or the name of a dataset.
        profile: `instant`, `fast` or `paper`; a named set of defaults.
        detector: what scores the rows: `mead`, `ape`, `counts`, `context`, or a detector of your own (a callable, a
            scikit-learn or a PyOD detector). An estimator that is already fitted is used as it is.
        encoding: how a scikit-learn or PyOD detector sees the values: `onehot`, `ordinal` or `frequency`. None passes a
            frame of text, for a pipeline that does its own encoding. `auto` is `onehot` for scikit-learn and `ordinal`
            for PyOD.
        takes: what a callable is given, a `frame` of text or `ids`.
        explainer: what says which values do not belong: `judge` (similar rows vote; the default), `transformer`,
            `counts`, an explainer with settings of your own, or False for none.
        memory: False keeps no training rows in the model: no judge, no alarm. The explainer is then the profile's other
            one, and the score alone decides which rows are anomalous.
        graph: True or False for with or without one, or a graph with settings of your own. None follows the profile.
            The methods `carat` and `carat-plus` need it.
        threshold: a row is anomalous if it scores below this quantile of the held-out rows; or a `Threshold`.
        start: a model, or its folder, whose networks this one begins with: values and columns are matched by their
            text, new ones begin at random. What is counted is counted anew.
        minutes: how long the networks may train on this machine. The number of steps is fixed by timing a few before
            training begins; if the ordinary epochs take less, they are trained as they are. Default: 4 in `fast`, no
            limit in `paper`. `math.inf` is no limit.
        steps: exactly so many steps instead, over all networks together. The `total` of another model's
            `training["steps"]` trains it again.
        seed: every random choice follows from it. On the CPU, the same seed and the same number of steps give the same
            model bit for bit.
        device: `auto`, `cpu` or `cuda`.
        checkpoints: a folder for progress. If the fit is interrupted, the same call continues from there.
        distributed: train the networks together with the other processes that `torchrun` started; all of them must
            make the same call. Process 0 shows progress and keeps checkpoints. Each gets the same model; save it in
            one of them.
        progress: True shows progress bars. An observer is told of stages and remarks. By default, remarks go to the
            logger `carat`; if training will take long, one of them says how long.
        columns: which columns take part; see `Columns`. `domains` or `columns` lists them; `also` adds to that list or
            to the default, and `without` leaves out. `numeric={"Weight": 10}` cuts a column of numbers into ten ranges.
            `id` is the column that identifies a row. With `time`, the newest rows are held out instead of random ones.
            `metapaths` are paths of columns that belong together. Values seen fewer than `min_count` times count as
            unseen.
    """
    if checkpoints is not None:
        check_path("checkpoints", checkpoints)
    seed = check_seed(seed)
    check_flag("memory", memory)
    check_flag("distributed", distributed)
    recipe = Recipe.of(
        profile=profile,
        detector=detector,
        encoding=encoding,
        takes=takes,
        explainer=explainer,
        memory=memory,
        graph=graph,
        threshold=threshold,
        minutes=minutes,
        steps=steps,
    )
    with joined(distributed) as team, watching(progress) as observer:
        folder = None if checkpoints is None else Path(checkpoints)
        run = run_for(team, data, seed, pick_device(device), observer, folder)
        try:
            return fit_table(data, Columns.of(columns), recipe, run, start=start)
        except NotUtf8Error as error:
            if not str(data).lower().endswith((".csv", ".csv.gz")):
                raise
            # The argument `encoding` is about something else here.
            raise InputError(
                f"{data}: not UTF-8 text; save it as UTF-8 (in Excel: Save As, CSV UTF-8), or pass a frame, such as "
                "pandas.read_csv(…, dtype=str, encoding='latin-1')"
            ) from error


def run_for(
    team: Team, data: Any, seed: int, device: torch.device, observer: Observer, checkpoints: Path | None
) -> Run:
    """What a fit runs with in one process of a team: the leader alone shows progress and keeps checkpoints."""
    if team.size > 1 and str(data) == "-":
        raise InputError("only one process can read standard input; write the rows to a file first")
    return Run(
        seed=seed,
        device=team.device(device),
        observer=observer if team.leads else Silent(),
        checkpoints=checkpoints if team.leads else None,
        team=team,
    )


def fit_table(
    data: Any,
    columns: Columns,
    recipe: Recipe,
    run: Run,
    *,
    encoding: str | None = None,
    start: Model | str | Path | None = None,
) -> Model:
    """`fit`, with its arguments put together.

    Args:
        data: as `fit` takes it.
        columns: which columns take part.
        recipe: what to fit.
        run: seed, device, observer, checkpoints.
        encoding: of a CSV file; None is UTF-8.
        start: a model, or its folder, whose networks this one begins with.
    """
    began = time.monotonic()
    prepared = prepare(data, columns, encoding=encoding, observer=run.observer)
    return fit_prepared(prepared, recipe, run, start=_opened(start), began=began)


def _opened(start: Model | str | Path | None) -> Model | None:
    from carat.fitting.loading import load  # noqa: PLC0415 - loading and fitting know each other only here

    if start is not None and not isinstance(start, str | Path | Model):
        raise InputError(f"`start` must be a model or its folder, got {start!r}")
    return load(start) if isinstance(start, str | Path) else start


def fit_prepared(
    prepared: Prepared,
    recipe: Recipe | None = None,
    run: Run | None = None,
    *,
    fold: Fold | None = None,
    start: Model | None = None,
    began: float | None = None,
) -> Model:
    """Fit the parts of a recipe on a prepared table.

    Args:
        prepared: the table.
        recipe: what to fit; None is the profile `fast`.
        run: seed, device, observer, checkpoints.
        fold: which records to learn from and which to hold out; None holds out a tenth.
        start: a model whose networks this one begins with.
        began: when the work began, on the monotonic clock, where reading is to count.
    """
    began = time.monotonic() if began is None else began
    run, parts = run or Run(), (recipe or Recipe.of()).fresh(prepared.schema)
    detector, explainer, graph, vocabulary = parts.detector, parts.explainer, parts.graph, prepared.vocabulary
    if start is not None:
        _start(parts, start)
    if run.checkpoints is not None or run.team.size > 1:
        claim = _claim(prepared, parts, run.seed, start)
        run.team.check_same(claim, "other rows or settings")
        if run.checkpoints is not None:
            _keep(claim, run.checkpoints)
    counting = run.observer.stage("counting pairs", len(vocabulary) * (len(vocabulary) - 1) // 2)
    fold = fold or prepared.fold(run.seed)
    data = TrainingData.split(prepared.table.ids, vocabulary, fold=fold, advance=counting.advance)
    pairs = data.pairs
    run, schedule = boxed(parts, data, run)
    if isinstance(detector, OutsideDetector):
        detector = detector.speaking(prepared.like)
    # The detector first: it is quick, and what is wrong with one from outside should not wait for the explainer. The
    # context detector is the explainer, so there it is the other way round.
    explainer_first = isinstance(detector, ContextDetector)
    if explainer is not None and explainer_first:
        explainer.fit(data, run)
    reference = detector.fit(data, run).score(data.held_out).cpu().sort().values
    if explainer is not None and not explainer_first:
        explainer.fit(data, run)
    if graph is not None:
        graph.fit(data, run)
    gate, found = set_gate(detector, explainer, data, run) if isinstance(explainer, Judge) else (None, None)
    model = Model(
        schema=prepared.schema,
        vocabulary=vocabulary,
        pairs=pairs,
        detector=detector,
        explainer=explainer,
        reference=reference,
        threshold=parts.threshold,
        graph=graph,
        gate=gate,
        held_out=data.held_out if isinstance(explainer, Judge) else None,
        lookalikes=lookalikes(vocabulary, pairs) if isinstance(explainer, Judge) else None,
        training={
            "data": prepared.label,
            "records": len(data.train),
            "held_out": len(data.held_out),
            "fingerprint": prepared.fingerprint(),
            "sketch": Sketch.of(data).to_json(),
            "left_out": dict(prepared.left_out),
            "min_count": prepared.min_count,
            "profile": parts.profile,
            "seed": run.seed,
            "device": run.device.type,
            **({} if start is None else {"start": start.identity}),
            **({} if schedule is None else {"steps": schedule.to_json()}),
            **({} if found is None else {"found": found}),
        },
    )
    model = replace(model, blends=learned_blends(model, data, run))
    usual = usual_of(model, data.held_out).to_json()
    for part in (detector, explainer, getattr(explainer, "beside_", None), graph):
        if isinstance(part, Fitted):
            part.start_ = None
    seconds = round(time.monotonic() - began, 2)
    return replace(model, training={**model.training, "usual": usual, "seconds": seconds})


def _start(parts: Recipe, model: Model) -> None:
    """Let the parts of a recipe begin with what a model's parts have learned, in place."""
    begun = 0
    pairs = ((parts.detector, model.detector), (parts.explainer, model.explainer), (parts.graph, model.graph))
    for mine, other in pairs:
        if isinstance(mine, Fitted) and isinstance(other, Fitted):
            begun += mine.start_from(other, model.vocabulary).start_ is not None
    if not begun:
        raise InputError("`start` has no network of the kind that this fit trains; use the profile it was fitted with")


def learned_blends(model: Model, data: TrainingData, run: Run) -> dict[str, Blend]:
    """Learned weights for the methods that have any, where a judge and a quick detector make that possible."""
    parts = model.parts()
    if parts.judge is None or not isinstance(model.detector, GridDetector):
        return {}
    able = [name for name in BLENDED if not parts.lacks(METHODS[name].needs)]
    stage = run.observer.stage("weighing fixes", 2 * len(able))
    found = {}
    for name in able:
        method = model.method(name)
        assert isinstance(method, Guided)
        blend = learn_blend(method, data, seed=run.seed_of("blend"))
        stage.advance()
        weighed = replace(model, blends={name: blend}).method(name)
        assert isinstance(weighed, Guided)
        found[name] = replace(blend, sets=learn_sets(weighed, data, seed=run.seed_of("sets")))
        stage.advance()
    stage.finish()
    return found


def _claim(prepared: Prepared, recipe: Recipe, seed: int, start: Model | None = None) -> dict[str, Any]:
    """What makes this fit this fit, as JSON."""
    vocabulary = json.dumps(prepared.vocabulary.to_json()).encode()
    fingerprint = {
        "data": prepared.fingerprint(),
        "vocabulary": hashlib.sha256(vocabulary).hexdigest(),
        "schema": prepared.schema.to_json(),
        "parts": recipe.describe(),
        "seed": seed,
        **({} if start is None else {"start": start.identity}),
        "box": asdict(recipe.box),
    }
    found: dict[str, Any] = json.loads(json.dumps(fingerprint))
    return found


def _keep(claim: dict[str, Any], checkpoints: Path) -> None:
    """Mark a checkpoint folder as this fit's, or refuse the folder of another one."""
    file = checkpoints / "fit.json"
    if file.exists():
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{file}: is damaged; remove {checkpoints} and start over") from error
        if found != claim:
            raise InputError(
                f"{checkpoints}: belongs to a fit with other data or settings; use those, or remove it and start over"
            )
        return
    checkpoints.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(claim))
