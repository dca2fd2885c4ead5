"""Tables turned into ids: schema, vocabulary, readers and writers, splits, co-occurrence counts, corruption, slips."""

from carat.data.columns import ColumnOptions, Columns
from carat.data.corruption import Anomalies, corrupt
from carat.data.pairs import Pairs
from carat.data.scan import Scan, scan
from carat.data.schema import Schema
from carat.data.sketch import Gathered, Sketch
from carat.data.slips import Slipper, Spoiled, slip
from carat.data.sources import open_source
from carat.data.splits import random_split, time_split
from carat.data.table import Fingerprint, Imprint, Table, Unseen
from carat.data.training_data import Fold, TrainingData
from carat.data.vocabulary import FIRST, MISSING, UNSEEN, Domain, Vocabulary
from carat.data.writers import TableWriter

__all__ = [
    "Schema",
    "Vocabulary",
    "Domain",
    "Table",
    "Unseen",
    "Fingerprint",
    "Imprint",
    "Sketch",
    "Gathered",
    "MISSING",
    "UNSEEN",
    "FIRST",
    "open_source",
    "scan",
    "Scan",
    "random_split",
    "time_split",
    "TrainingData",
    "Fold",
    "Columns",
    "ColumnOptions",
    "Pairs",
    "corrupt",
    "Anomalies",
    "slip",
    "Spoiled",
    "Slipper",
    "TableWriter",
]
