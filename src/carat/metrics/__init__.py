"""Measures of detectors, explainers and counterfactuals; one file a metric."""

from carat.metrics.roc_auc import roc_auc

__all__ = ["roc_auc"]
