"""The same on a real cluster of two workers on this machine; needs the extra `ray`."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch import Tensor

import carat
from carat import distributed, jobs
from carat.auditing.audit import Judge
from carat.auditing.options import AuditOptions
from carat.cli import run
from carat.data.slips import slip
from carat.distributed.pool import TRIES
from carat.errors import InputError, MissingExtraError
from tests.distributed.parts import KINDS, Deadly, job_of, on_workers, outcome, sinks_of, written
from tests.support.fitted import instant_of
from tests.support.planted import planted_table

INSTALLED = importlib.util.find_spec("ray") is not None
ROOT = Path(__file__).parents[2]
if not INSTALLED:
    warnings.warn("ray is not installed: tests/distributed/test_ray.py tests nothing", stacklevel=1)
real = pytest.mark.skipif(not INSTALLED, reason="ray is not installed: pip install 'carat-recourse[ray]'")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    import ray

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, sys.path)])  # for the workers
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    yield
    ray.shutdown()
    if before is None:
        os.environ.pop("PYTHONPATH")
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def model() -> carat.Model:
    return instant_of("counts")


@real
@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("kind", KINDS)
def test_workers_give_what_one_process_gives(kind: str, model: carat.Model, tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = outcome(kind, model, path, tmp_path / "whole", None)
    assert outcome(kind, model, path, tmp_path / "workers", on_workers) == whole
    assert not [each for each in (tmp_path / "workers").iterdir() if each.name.startswith(".")]


@real
@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_a_killed_worker_loses_and_doubles_nothing(model: carat.Model, tmp_path: Path) -> None:
    path, candles = written(tmp_path), tmp_path / "candles"
    candles.mkdir()
    (candles / "one").touch()
    whole = outcome("score", model, path, tmp_path / "whole", None)
    killed = outcome(
        "score", model, path, tmp_path / "killed", lambda job, *given: on_workers(job, *given, Deadly(candles))
    )
    assert not list(candles.iterdir()), "a worker was killed"
    assert killed == whole


@real
@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_rows_that_kill_every_worker_are_given_up(model: carat.Model, tmp_path: Path) -> None:
    path, candles = written(tmp_path), tmp_path / "candles"
    candles.mkdir()
    for number in range(5 * TRIES):
        (candles / str(number)).touch()
    job = job_of("score", model, path)
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match=r"3 workers died of rows \d+ to \d+; is there enough memory"):
        on_workers(job, path, *sinks_of(job, tmp_path / "out"), Deadly(candles))
    assert not list((tmp_path / "out").iterdir()), "nothing is left, and nothing half-written"


@real
@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_cells_are_judged_as_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.auditing.audit.PART", 100)
    monkeypatch.setattr("carat.auditing.judging.ROUNDS", 1)
    spoiled = slip(planted_table().slice(0, 250), share=0.02, seed=1).table
    compared = []
    with distributed.judging(workers=2) as workers:

        def both(judge: Judge, parts: Sequence[Tensor]) -> Iterator[tuple[int, Tensor]]:
            for place, odds in workers(judge, parts):
                compared.append(torch.equal(odds, judge.odds(parts[place])))
                yield place, odds

        [result] = jobs.audit(spoiled, AuditOptions(cut=0.2), spread=both)
    assert compared == [True] * 3
    assert len(result)


@real
@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_the_command_and_the_call_write_the_same_files(
    model: carat.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    model.save("model")
    assert run(["score", "model", "rows.parquet", "--out", "one.parquet", "--quiet", "--device", "cpu"]) == 0
    command = ["score", "model", "--ray", "rows.parquet", "--workers", "1", "--device", "cpu", "--quiet"]
    assert run([*command, "--out", "ray.parquet"]) == 0
    done = distributed.score("model", "rows.parquet", "call.parquet", workers=1)
    one, *others = (Path(f"{name}.parquet") for name in ("one", "ray", "call"))
    assert done.records == pq.read_table(one).num_rows
    for other in others:
        assert other.read_bytes() == one.read_bytes()
        told = [json.loads(Path(f"{path}.about.json").read_text()) for path in (one, other)]
        for about in told:
            about["origin"].pop("made")
        assert told[0] == told[1]


@real
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["rows.csv", "--out", "o.parquet", "--ray"],
            "rows.csv: many machines read one Parquet file together; convert",
        ),
        (["-", "--out", "o.parquet", "--ray"], "-: many machines read one Parquet file together; convert the table"),
        (["rows.parquet", "--out", "o.csv", "--ray"], "give --out a name that ends in .parquet, got o.csv"),
        (["rows.parquet", "--ray"], "give --out a name that ends in .parquet"),
        (["rows.parquet", "--out", "old.parquet", "--ray"], "old.parquet: already exists; use --force"),
        (["rows.parquet", "--out", "o.parquet", "--ray", "127.0.0.1:9"], "no Ray cluster at 127.0.0.1:9 ("),
        (["rows.parquet", "--out", "o.parquet", "--workers", "2"], "--workers is for --ray"),
    ],
)
def test_what_many_machines_can_not_do_is_one_line(
    arguments: list[str],
    says: str,
    model: carat.Model,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    Path("old.parquet").touch()
    model.save("model")
    assert run(["score", "model", *arguments]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model", "old.parquet", "rows.parquet"]


def test_without_ray_the_extra_is_named(model: carat.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    path = written(tmp_path)
    with pytest.raises(MissingExtraError, match=r"carat-recourse\[ray\]"):
        distributed.score(model, path, tmp_path / "out.parquet")
    with pytest.raises(MissingExtraError, match=r"carat-recourse\[ray\]"):
        distributed.audit(pa.table({"a": ["x"] * 20}))
    assert [each.name for each in tmp_path.iterdir()] == ["rows.parquet"]
