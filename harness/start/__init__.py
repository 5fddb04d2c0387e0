"""The start of a normalizer, for those who write their own: `harness new normalizer`."""

from harness.start.new import SURFACES, new_normalizer

__all__ = ["SURFACES", "new_normalizer"]
