"""Why a cassette was not played to its end."""


class PlayError(Exception):
    """Playing ended before the cassette did. `code` is the command's exit code.

    1: the client did not do what was recorded; 2: wrong use; 5: nothing of the cassette's surface
    can be played.
    """

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)


class MismatchError(PlayError):
    """The client sent something else than was recorded. `seq` is the frame that was expected."""

    def __init__(self, seq: int, message: str) -> None:
        self.seq = seq
        super().__init__(1, message)
