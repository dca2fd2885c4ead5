"""A model as a function of Arrow batches, for engines that bring batches of their own: Spark, Polars, DuckDB."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import torch

from carat import jobs
from carat.arguments import check_flag, known_arguments
from carat.errors import COLUMNS, InputError, nearest
from carat.fitting import Model, load
from carat.fitting.store import as_path, stored_identity
from carat.recourse import Constraints, Settings
from carat.results.gate import check_gate

__all__ = ["BatchFunction", "Explaining", "Recourse", "Scoring"]

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


@dataclass(frozen=True)
class _Loaded:
    """What a process keeps of a model folder.

    Args:
        model: without an id column: rows are numbered within their batch, and named at the end.
        id: the id column that it has.
    """

    model: Model
    id: str | None


_models: dict[tuple[str, str | None], _Loaded] = {}
_loading = threading.Lock()


class BatchFunction(ABC):
    """A model folder as a function: an Arrow table or batch of rows goes in, one of results comes out.

    It can be pickled and holds no model: each process loads the folder once, when the first rows come. Rows are judged
    one by one, so it makes no difference how a table is cut into batches. Nothing is logged.

    Args:
        folder: the model; every process must find it under this path.
        id: the column that names the rows. Its values come back as `record`. None takes the one that the model was
            fitted with. Without any, `record` is the number of a row within its batch.
        threads: how many threads each process may compute with; None leaves that to torch.
    """

    def __init__(self, folder: str | Path, *, id: str | None = None, threads: int | None = None) -> None:
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise InputError(f"`threads` must be a whole number of at least 1, or None; got {threads!r}")
        self.folder = str(as_path(folder).absolute())
        self.id = id
        self.threads = threads
        # A worker must not answer with another model than the one that its driver saw.
        self._identity = stored_identity(Path(self.folder))
        if self._identity is None:  # of an early version, or no model at all, which it says
            load(self.folder)
        self._columns: pa.Schema | None = None

    def __getstate__(self) -> dict[str, Any]:
        # An Arrow schema is quickly made again, and not every engine's pickle knows it.
        return {**self.__dict__, "_columns": None}

    def __call__(self, rows: Rows) -> Rows:
        """The results for some rows, as a table or as a batch, whichever the rows came as."""
        if not isinstance(rows, pa.Table | pa.RecordBatch):
            raise InputError(f"the rows must be a pyarrow Table or RecordBatch, got {type(rows).__name__}")
        table = rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
        schema = self.schema(table.schema)
        parts: list[pa.Table] = [
            self._named(part.rows(), table, schema) for part in self._job(self._loaded.model, table)
        ]
        found = pa.concat_tables([schema.empty_table(), *parts])
        return found if isinstance(rows, pa.Table) else _one_batch(found)

    def each(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The results of many batches, one by one, as `mapInArrow` of Spark wants it."""
        for batch in batches:
            yield self(batch)

    def reader(self, batches: pa.RecordBatchReader) -> pa.RecordBatchReader:
        """The results of a stream of batches as a stream; no more than a batch of each is ever held."""
        return pa.RecordBatchReader.from_batches(self.schema(batches.schema), self.each(batches))

    def schema(self, rows: pa.Schema) -> pa.Schema:
        """The columns of the results, for rows with these columns."""
        model = self._loaded.model
        for name in model.vocabulary.names:
            if name not in rows.names:
                raise InputError(f"the rows have no column '{name}'; {nearest(name, rows.names, listed=COLUMNS)}")
        if self._columns is None:
            self._columns = self._job(model, model.empty().decode()).empty().rows().schema
        return self._columns.set(0, pa.field("record", self._type_of_names(rows)))

    @property
    def _loaded(self) -> _Loaded:
        """The model of the folder, loaded once in a process."""
        key = (self.folder, self._identity)
        with _loading:
            if key not in _models:
                if self.threads is not None:
                    torch.set_num_threads(self.threads)
                found = load(self.folder)
                if self._identity not in (None, found.identity):
                    raise InputError(
                        f"{self.folder}: another model than when `{type(self).__name__}` was made; make it anew"
                    )
                _models[key] = _Loaded(replace(found, schema=replace(found.schema, id=None)), found.schema.id)
            return _models[key]

    def _name_column(self) -> str | None:
        return self._loaded.id if self.id is None else self.id

    def _type_of_names(self, rows: pa.Schema) -> pa.DataType:
        name = self._name_column()
        if name is None:
            return pa.int64()
        if name not in rows.names:
            raise InputError(f"the rows have no column '{name}' for `id`; {nearest(name, rows.names, listed=COLUMNS)}")
        kind = rows.field(name).type
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    def _named(self, found: pa.Table, rows: pa.Table, schema: pa.Schema) -> pa.Table:
        """Results with the names of their rows in place of their numbers."""
        name = self._name_column()
        if name is not None:
            names = rows[name].cast(schema.field("record").type).combine_chunks()
            found = found.set_column(0, "record", names.take(found["record"]))
        return found.cast(schema)

    @abstractmethod
    def _job(self, model: Model, rows: pa.Table) -> jobs.Job[Any]:
        """The job on some rows."""


class Scoring(BatchFunction):
    """`Model.score` for batches: one row for each of yours, in their order.

    Args:
        folder: as in `BatchFunction`; so are `id` and `threads`.
        gate: `both` lists rows by score and alarm, `score` by the score alone, without asking the judge.
        judge_all: whether the judge is asked about every row, or only about those that the pair counts do not clear.
    """

    @known_arguments
    def __init__(
        self,
        folder: str | Path,
        *,
        id: str | None = None,
        threads: int | None = None,
        gate: str = "both",
        judge_all: bool = False,
    ) -> None:
        super().__init__(folder, id=id, threads=threads)
        check_gate(gate)
        self.gate = gate
        self.judge_all = check_flag("judge_all", judge_all)

    def _job(self, model: Model, rows: pa.Table) -> jobs.Job[Any]:
        return jobs.score(model, rows, gate=self.gate, judge_all=self.judge_all)


class Explaining(BatchFunction):
    """`Model.explain` for batches: one row for each of yours, in their order.

    Args:
        folder: as in `BatchFunction`; so are `id` and `threads`.
    """

    def _job(self, model: Model, rows: pa.Table) -> jobs.Job[Any]:
        return jobs.explain(model, rows)


class Recourse(BatchFunction):
    """`Model.recourse` for batches: suggested fixes for the anomalous rows of each, one row per fix, best first.

    Args:
        folder: as in `BatchFunction`; so are `id` and `threads`.
        k: suggested fixes per row, at most.
        method: what searches; None picks the best that the model can do.
        all: look at every row, including those that are already normal.
        constraints: what may change: a `Constraints`, a dictionary, or the path of a TOML file.
        prefer: from 0 (plausible) to 1 (valid to the detector).
        diversity: 0 gives the best `k` fixes. Towards 1, they differ more from each other.
        gate: `both` takes rows by score and alarm, `score` by the score alone, without asking the judge.
        judge_all: whether the judge is asked about every row, or only about those that the pair counts do not clear.
    """

    @known_arguments
    def __init__(
        self,
        folder: str | Path,
        *,
        id: str | None = None,
        threads: int | None = None,
        k: int = 50,
        method: str | None = None,
        all: bool = False,
        constraints: Constraints | Mapping[str, Any] | str | Path | None = None,
        prefer: float = 0.5,
        diversity: float = 0.0,
        gate: str = "both",
        judge_all: bool = False,
    ) -> None:
        super().__init__(folder, id=id, threads=threads)
        check_gate(gate)
        self.settings = Settings(k=k, constraints=Constraints.of(constraints), prefer=prefer, diversity=diversity)
        self.method, self.all = method, check_flag("all", all)
        self.gate, self.judge_all = gate, check_flag("judge_all", judge_all)

    def _job(self, model: Model, rows: pa.Table) -> jobs.Job[Any]:
        return jobs.recourse(
            model, rows, self.settings, method=self.method, all=self.all, gate=self.gate, judge_all=self.judge_all
        )


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    """A table as one batch, also where it has no rows."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
