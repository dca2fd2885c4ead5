"""What the paper compares with, made to work."""

from carat.baselines.xformer_r import XformerR

__all__ = ["XformerR"]
