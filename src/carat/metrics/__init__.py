"""Measures of detectors, explainers and counterfactuals; one file a metric.

A metric of counterfactuals takes the anomalies as ids int [n, m], their counterfactuals as ids int [n, K, m] in rank
order, best first, and a mask bool [n, K] of the slots that hold one; ids elsewhere are padding without meaning. All
are on one device. The mask must come from `distinct`. The answer is float64 [n], NaN for an anomaly without any
counterfactual: a mean over anomalies leaves these out, and `coverage` tells how many they are.
"""

from carat.metrics.caught import caught
from carat.metrics.coherence import coherence
from carat.metrics.conditional_correctness import conditional_correctness
from carat.metrics.count_diversity import count_diversity
from carat.metrics.coverage import coverage
from carat.metrics.distinct import distinct
from carat.metrics.feature_accuracy import feature_accuracy
from carat.metrics.heterogeneity import heterogeneity
from carat.metrics.overlap_distance import overlap_distance
from carat.metrics.raw_sparsity import raw_sparsity
from carat.metrics.recovery import recovered_at, recovery
from carat.metrics.roc_auc import roc_auc
from carat.metrics.sparsity_index import sparsity_index
from carat.metrics.summary import summary
from carat.metrics.validity import validity

__all__ = [
    "distinct",
    "coverage",
    "sparsity_index",
    "coherence",
    "conditional_correctness",
    "feature_accuracy",
    "heterogeneity",
    "summary",
    "recovery",
    "recovered_at",
    "validity",
    "overlap_distance",
    "count_diversity",
    "raw_sparsity",
    "roc_auc",
    "caught",
]
