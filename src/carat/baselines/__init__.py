"""What the paper compares with, made to work."""

from carat.baselines.dice import Dice
from carat.baselines.fimap import Fimap
from carat.baselines.rceaa import Rceaa
from carat.baselines.replace import Replace
from carat.baselines.xformer_r import XformerR

__all__ = ["Replace", "XformerR", "Fimap", "Rceaa", "Dice"]
