"""Names the native kind of each frame of Cursor's ACP: as in ACP, `cursor/*` by their names."""

from harness.surfaces.acp.kinds import Kinds

__all__ = ["Kinds"]
