"""Datasets by name: `flights` is real and bundled, `shipments` is generated and says so. `spoil` adds errors to any."""

from carat.datasets.dataset import Dataset
from carat.datasets.flights import flights
from carat.datasets.shipments import shipment_batches, shipments
from carat.datasets.spoil import spoil

__all__ = ["Dataset", "flights", "shipments", "shipment_batches", "spoil"]
