"""Parts of a table add up to the whole, however it is cut: no cluster is needed to see that."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import carat
from carat.data import Fingerprint, Gathered, Imprint, Pairs, sketch
from carat.data.row_ids import RowIds
from carat.data.sources import StretchSource, open_source, plan_stretches
from carat.data.sources import stretches as module
from carat.distributed.worker import commit
from carat.errors import InputError
from carat.memory.store import Records
from carat.results.ageing import Counted
from tests.distributed.parts import GROUP, KINDS, inline, job_of, outcome, table, written
from tests.memory.test_vote import WORDS
from tests.support.fitted import instant_of
from tests.support.planted import planted_table

rows = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=60)
cuts = st.lists(st.integers(0, 60), max_size=4)


def parts_of(ids: Tensor, places: list[int]) -> list[Tensor]:
    return list(torch.tensor_split(ids, sorted(min(place, len(ids)) for place in places)))


@given(rows, cuts)
def test_fingerprints_sketches_and_counts_add_up(found: list[list[int]], places: list[int]) -> None:
    ids = torch.tensor(found, dtype=torch.int32)
    parts = parts_of(ids, places)
    met = Fingerprint()
    for part in parts:
        met.merge(Imprint().add(part))
    assert met.text() == Fingerprint().add(ids).text()
    counted, whole = Counted(), Counted()
    whole.add("odd", ids[:, 0] % 2 == 1)
    for part in parts:
        one = Counted()
        one.add("odd", part[:, 0] % 2 == 1)
        counted.merge(one)
    assert counted == whole


@given(rows, cuts, st.integers(1, 20))
def test_sketches_add_up_also_where_they_are_cut(found: list[list[int]], places: list[int], size: int) -> None:
    ids = torch.tensor(found, dtype=torch.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "SIZE", size)
        whole, merged = Gathered().add(ids), Gathered()
        for part in parts_of(ids, places):
            merged.merge(Gathered().add(part))
    assert np.array_equal(whole.keys, merged.keys)
    assert (whole.limit, whole.rows, whole.total) == (merged.limit, merged.rows, merged.total)


@given(rows, cuts)
def test_pairs_and_memories_add_up(found: list[list[int]], places: list[int]) -> None:
    ids = torch.tensor(found, dtype=torch.int32)
    parts = parts_of(ids, places)
    pairs, records = Pairs.of(ids[:0], WORDS), Records.of(ids[:0], WORDS)
    for part in parts:
        pairs, records = pairs.plus(Pairs.of(part, WORDS)), records.plus(Records.of(part, WORDS))
    whole, all_records = Pairs.of(ids, WORDS), Records.of(ids, WORDS)
    assert pairs.records == whole.records
    for name in ("keys", "counts", "singles"):
        assert torch.equal(getattr(pairs, name), getattr(whole, name))
    for name in ("ids", "count", "group"):
        assert torch.equal(getattr(records, name), getattr(all_records, name))


@given(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=30), cuts)
def test_row_ids_add_up(names: list[str | None], places: list[int]) -> None:
    ends = [0, *sorted(min(place, len(names)) for place in places), len(names)]
    merged = RowIds("bill")
    for begin, end in pairwise(ends):
        merged.merge(RowIds("bill").add(pa.array(names[begin:end], pa.string())))
    assert merged.in_words() == RowIds("bill").add(pa.array(names, pa.string())).in_words()


@pytest.fixture(scope="module")
def model() -> carat.Model:
    """With a judge, so that there are alarms."""
    return carat.fit(planted_table(), profile="instant")


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_over_parts_gives_what_one_run_gives(kind: str, model: carat.Model, tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = outcome(kind, model, path, tmp_path / "whole", None)
    assert whole["out.parquet"]
    assert outcome(kind, model, path, tmp_path / "parts", inline) == whole
    assert sorted(each.name for each in (tmp_path / "parts").iterdir()) == sorted(
        each.name for each in (tmp_path / "whole").iterdir()
    )


@given(st.lists(st.integers(1, 199), max_size=5, unique=True))
@settings(max_examples=8)
@pytest.mark.slow
def test_wherever_the_file_is_cut(places: list[int]) -> None:
    model = instant_of("counts")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = written(folder, sorted(places))
        for kind in ("score", "top"):
            whole = outcome(kind, model, path, folder / f"{kind} whole", None)
            assert outcome(kind, model, path, folder / f"{kind} parts", inline) == whole


def test_the_judge_is_asked_as_for_the_whole_table(
    model: carat.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No stretch has so many rows that it would matter, but the table has."""
    monkeypatch.setattr("carat.jobs.job.JUDGED", 100)
    path = written(tmp_path)
    whole = outcome("score", model, path, tmp_path / "whole", None)
    assert any("not judged" in remark for remark in whole["about"]["remarks"])
    assert outcome("score", model, path, tmp_path / "parts", inline) == whole


@given(st.lists(st.integers(0, 70), min_size=1, max_size=8), st.integers(1, 60), st.integers(1, 20))
def test_stretches_are_the_batches_of_the_file(sizes: list[int], least: int, batch: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BATCH_ROWS", batch)
        patch.setattr("carat.data.sources.parquet.BATCH_ROWS", batch)
        path, start = f"{folder}/t.parquet", 0
        with pq.ParquetWriter(path, pa.schema([("a", pa.string()), ("n", pa.int64())])) as file:
            for size in sizes:
                numbers = list(range(start, start + size))
                texts = pa.array([f"v{n % 7}" for n in numbers], pa.string())
                file.write_table(pa.table({"a": texts, "n": pa.array(numbers, pa.int64())}))
                start += size
        planned = plan_stretches(path, least)
        assert sum(map(len, planned)) == start
        sources = [StretchSource(path, stretch) for stretch in planned]
        found = [(each.place, part.column(1).to_pylist()) for each in sources for part in each.batches(["a", "n"])]
        usual = [part.column(1).to_pylist() for part in open_source(path).batches(["a", "n"])]
        assert [numbers for _, numbers in found] == usual
        assert all(numbers[0] == place for place, numbers in found if numbers)


def test_a_worker_without_the_table_says_so(tmp_path: Path) -> None:
    path = written(tmp_path)
    [first, *_] = plan_stretches(path, 1)
    path.unlink()
    with pytest.raises(InputError, match="not found on a worker"):
        StretchSource(str(path), first)


def test_a_part_is_put_in_its_place_once(tmp_path: Path) -> None:
    """A worker that was taken for dead may come back."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows").write_text(name)
        commit(tmp_path / name, tmp_path / "0")
    assert (tmp_path / "0" / "rows").read_text() == "one"
    assert [each.name for each in tmp_path.iterdir()] == ["0"]


def test_an_update_has_no_parts(model: carat.Model) -> None:
    with pytest.raises(InputError, match="can't be spread"):
        carat.jobs.update(model, table()).recipe()


def test_table_is_large_enough_to_be_cut(tmp_path: Path, model: carat.Model) -> None:
    path = written(tmp_path)
    assert len(plan_stretches(path, 1)) == len(table()) / GROUP
    assert job_of("score", model, path).judges_all
