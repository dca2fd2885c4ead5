"""Datasets by name: `flights` is real and bundled, `shipments` is generated and says so."""

from carat.datasets.dataset import Dataset
from carat.datasets.flights import flights
from carat.datasets.shipments import shipment_batches, shipments

__all__ = ["Dataset", "flights", "shipments", "shipment_batches"]
