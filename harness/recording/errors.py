"""Why a recording did not come to be."""


class RecordError(Exception):
    """A recording that failed; nothing was put in place. `code` is the command's exit code.

    1: the script was not followed, or something that must not be in a cassette was found in it;
    2: wrong use; 3: the surface cannot express the scenario; 4: the cassette could not be
    written; 5: the agent could not be started, or ended too early. `missing`: no program of the
    agent was found, so that nothing was tried.
    """

    def __init__(self, code: int, message: str, *, missing: bool = False) -> None:
        self.code = code
        self.missing = missing
        super().__init__(message)
