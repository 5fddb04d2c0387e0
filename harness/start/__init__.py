"""The starts that `harness new` writes: of a normalizer, a scenario, a surface."""

from harness.start.new import SURFACES, new_normalizer
from harness.start.scenario import new_scenario
from harness.start.surface import new_surface

__all__ = ["SURFACES", "new_normalizer", "new_scenario", "new_surface"]
