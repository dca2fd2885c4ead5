"""As the conformance suite has it."""

from tests.conformance.conftest import one_thread

__all__ = ["one_thread"]
