"""What the paper compares with, made to work."""

from carat.baselines.fimap import Fimap
from carat.baselines.rceaa import Rceaa
from carat.baselines.registry import BASELINES
from carat.baselines.replace import Replace
from carat.baselines.xformer_r import XformerR

__all__ = ["BASELINES", "Replace", "XformerR", "Fimap", "Rceaa"]
