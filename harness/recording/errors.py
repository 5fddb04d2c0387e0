"""Why a recording did not come to be."""


class RecordError(Exception):
    """A recording that failed; nothing was put in place. `code` is the command's exit code.

    1: the script was not followed, or something that must not be in a cassette was found in it;
    2: wrong use; 3: the surface cannot express the scenario; 4: the cassette could not be
    written; 5: the agent could not be started, or ended too early.
    """

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)
