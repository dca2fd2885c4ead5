"""Categories as numbers, for detectors from outside that know nothing else."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from torch import Tensor

from carat.data.vocabulary import FIRST, Vocabulary
from carat.errors import InputError, MissingExtraError, nearest

Encoding = Literal["onehot", "ordinal", "frequency"]
DENSE_CELLS = 250_000_000
"""A dense one-hot matrix above this many cells (1 GB as float32) is refused."""


def check_encoding(encoding: str) -> None:
    """One of the three, or an error with the nearest."""
    if encoding not in get_args(Encoding):
        raise InputError(f"unknown `encoding` '{encoding}'; {nearest(encoding, get_args(Encoding))}")


def encode(ids: Tensor, vocabulary: Vocabulary, encoding: Encoding, *, sparse: bool) -> Any:
    """Records ids [n, m] as a matrix.

    - `onehot`: a column for every entity; missing and unseen entities are all zeros.
    - `ordinal`: the id itself, [n, m]; 0 is missing, 1 is unseen, frequent entities have small numbers.
    - `frequency`: log share of the entity in its domain, [n, m]; missing and unseen count as half a record.
    """
    check_encoding(encoding)
    rows = ids.cpu().numpy().astype(np.int64)
    if encoding == "ordinal":
        return rows.astype(np.float64)
    offsets = vocabulary.offsets.numpy()
    if encoding == "frequency":
        counts = np.maximum(vocabulary.counts().numpy(), 0.5)[rows + offsets]
        totals = np.array([max(domain.counts.sum(), 1) for domain in vocabulary.domains])
        return np.log(counts / totals)
    return _onehot(rows, offsets - FIRST * np.arange(len(vocabulary)), vocabulary.entities, sparse=sparse)


def _onehot(ids: np.ndarray, starts: np.ndarray, columns: int, *, sparse: bool) -> Any:
    known = ids >= FIRST
    column = (ids - FIRST + starts)[known]
    if not sparse:
        if len(ids) * columns > DENSE_CELLS:
            raise InputError(
                f"one-hot columns for {columns:,} values do not fit in memory for {len(ids):,} rows; "
                "use encoding='ordinal' or 'frequency'"
            )
        matrix = np.zeros((len(ids), columns), dtype=np.float32)
        matrix[np.nonzero(known)[0], column] = 1
        return matrix
    try:
        from scipy import sparse as scipy_sparse  # noqa: PLC0415 - comes with scikit-learn, not with carat
    except ImportError as error:
        raise MissingExtraError("scipy", "pyod", "a one-hot encoding") from error
    ends = np.concatenate([[0], known.sum(axis=1).cumsum()])
    return scipy_sparse.csr_matrix((np.ones(len(column), np.float32), column, ends), shape=(len(ids), columns))
