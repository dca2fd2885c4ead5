"""The heterogeneous graph of entities: metapaths, relations, DistMult, nearest neighbours."""

from carat.graph.distmult import KnowledgeGraph
from carat.graph.metapaths import discover
from carat.graph.neighbours import Neighbours
from carat.graph.relations import Relations

__all__ = ["KnowledgeGraph", "Neighbours", "Relations", "discover"]
