"""A cassette's agent, played back: it says what was recorded, and holds its client to the rest.

`player` is sans-io: frames and the client's lines go in, the agent's lines come out. `stdio` is
its process, `shim` lets it stand in PATH under the agent's own name.
"""

from harness.playback.errors import MismatchError, PlayError
from harness.playback.player import Await, End, Player, Write

__all__ = ["Await", "End", "MismatchError", "PlayError", "Player", "Write"]
