"""How methods are compared: the trials that every benchmark runs on."""

from carat.experiments.trial import Trial, make_trial

__all__ = ["Trial", "make_trial"]
