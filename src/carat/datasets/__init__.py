"""Datasets by name: `flights` is real and bundled, `shipments` is generated and says so."""

from carat.datasets.dataset import Dataset
from carat.datasets.flights import flights
from carat.datasets.shipments import shipment_batches, shipments

__all__ = ["Dataset", "flights", "shipments", "shipment_batches", "find_dataset"]


def find_dataset(name: str) -> Dataset | None:
    """The dataset that the command line calls so, or None.

    >>> find_dataset("nothing") is None
    True
    """
    if name == "flights":
        return flights()
    if name.startswith("shipments:"):
        return shipments(name.removeprefix("shipments:"))
    return None
