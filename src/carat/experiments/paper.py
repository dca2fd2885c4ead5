"""The paper's printed results, for the columns of our tables that they can stand beside."""

from __future__ import annotations

PAPER_DATASETS = {
    "shipments:us_import": "Dataset-1",
    "shipments:colombia_export": "Dataset-4",
    "shipments:ecuador_export": "Dataset-5",
}
"""Our generated schemas, and the proprietary data that they have the shape of."""

_METHODS = ("replace-m", "fimap", "rceaa", "xformer-r", "carat")

_PRINTED = {
    "feature_accuracy": {
        "Dataset-1": (0.8638, 0.1897, 0.2328, 0.9803, 0.9822),
        "Dataset-4": (0.7167, 0.2995, 0.3094, 0.9111, 0.9164),
        "Dataset-5": (0.5658, 0.2181, 0.2761, 0.9577, 0.9601),
    },
    "heterogeneity": {
        "Dataset-1": (0.3589, 0.9737, 0.6625, 0.9693, 0.9017),
        "Dataset-4": (0.0634, 0.9145, 0.6863, 0.8164, 0.7805),
        "Dataset-5": (0.1122, 0.9570, 0.6176, 0.8879, 0.8378),
    },
    "coherence": {
        "Dataset-1": (0.0012, 0.0000, 0.0002, 0.0004, 0.0025),
        "Dataset-4": (0.0003, 0.0000, 0.0001, 0.0007, 0.0018),
        "Dataset-5": (0.0007, 0.0000, 0.0005, 0.0011, 0.0037),
    },
    "sparsity_index": {
        "Dataset-1": (0.8889, 0.5015, 0.5355, 0.8389, 0.8381),
        "Dataset-4": (0.8750, 0.5049, 0.5445, 0.7804, 0.7825),
        "Dataset-5": (0.8333, 0.5027, 0.5468, 0.8305, 0.8300),
    },
    "conditional_correctness": {
        "Dataset-1": (1.0000, 0.7404, 0.6230, 0.7389, 0.9774),
        "Dataset-4": (1.0000, 0.3666, 0.3770, 0.5572, 0.8411),
        "Dataset-5": (1.0000, 0.5122, 0.4240, 0.5858, 0.8695),
    },
}


def printed(metric: str, data: str, method: str) -> float | None:
    """What the paper prints for a metric, dataset and method; None where it prints nothing.

    >>> printed("feature_accuracy", "shipments:us_import", "carat")
    0.9822
    """
    if method not in _METHODS or data not in PAPER_DATASETS or metric not in _PRINTED:
        return None
    return _PRINTED[metric][PAPER_DATASETS[data]][_METHODS.index(method)]
