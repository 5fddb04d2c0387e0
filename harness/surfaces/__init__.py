"""The surfaces: each folder here is all that the project knows of one wire.

A folder holds `manifest.yaml`, `vocabulary.yaml`, `kinds.py` (`Kinds`), `normalizer.py`
(`Normalizer`), and `recorder.py` where the surface can be recorded. Adding a surface is adding
a folder; nothing else names it.
"""

from harness.surfaces.registry import Manifest, Surface, SurfaceError, surface, surfaces

__all__ = ["Manifest", "Surface", "SurfaceError", "surface", "surfaces"]
