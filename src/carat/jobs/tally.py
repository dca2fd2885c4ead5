"""What a job counts of the records it reads; the tallies of two parts of a table add up to that of the whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Self

from carat.data import Fingerprint, Gathered, Imprint, Table
from carat.data.pairs import Pairs
from carat.data.row_ids import RowIds
from carat.data.text import visible
from carat.fitting.model import Model, has_networks
from carat.results.ageing import Counted, look


@dataclass
class Tally:
    """Counts of the records that were read.

    Args:
        row_ids: of the id column; None without one.
        met: the records in their order; of a later part of a table, what a fingerprint will need of them.
        gathered: the records in any order.
        counted: how many of them are so and so.
        unseen: by domain and entity, how many hold one that training never met.
        cleared: how many the judge was not asked about.
    """

    row_ids: RowIds | None
    met: Fingerprint | Imprint = field(default_factory=Fingerprint)
    gathered: Gathered = field(default_factory=Gathered)
    counted: Counted = field(default_factory=Counted)
    unseen: Counter[tuple[str, str]] = field(default_factory=Counter)
    cleared: int = 0

    @classmethod
    def of(cls, model: Model, *, later: bool = False) -> Tally:
        """Nothing counted yet; `later` is for a part of a table that does not begin it."""
        row_ids = None if model.schema.id is None else RowIds(model.schema.id)
        return cls(row_ids, Imprint() if later else Fingerprint())

    def add(self, part: Table, model: Model, pairs: Pairs) -> None:
        """Count records; `pairs` are the model's, on the CPU."""
        self.met.add(part.ids)
        self.gathered.add(part.ids)
        if self.row_ids is not None and part.record is not None:
            self.row_ids.add(part.record)
        look(self.counted, part.ids, pairs, model.vocabulary)
        if has_networks(model):
            self.counted.add("later", (part.ids >= model.vocabulary.learned.sizes).any(dim=1))
        for domain, entities in part.unseen.by_name(model.vocabulary).items():
            self.unseen.update({(domain, entity): count for entity, count in entities.items()})

    def merge(self, later: Tally) -> Self:
        """Count what the tally of the records after these has counted."""
        assert isinstance(later.met, Imprint)
        self.met.merge(later.met)
        self.gathered.merge(later.gathered)
        self.counted.merge(later.counted)
        self.unseen.update(later.unseen)
        self.cleared += later.cleared
        if self.row_ids is not None and later.row_ids is not None:
            self.row_ids.merge(later.row_ids)
        return self

    def unseen_in_words(self) -> str | None:
        """One line on the entities that training never met; None where there is none."""
        if not self.unseen:
            return None
        shown = ", ".join(
            f"{domain} {visible(entity)} ({count:,}×)" for (domain, entity), count in self.unseen.most_common(5)
        )
        more = f" and {len(self.unseen) - 5:,} more" if len(self.unseen) > 5 else ""
        return f"never seen in training: {shown}{more}"
