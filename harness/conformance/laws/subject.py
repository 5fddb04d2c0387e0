"""`subject`: the normalizer takes what it is given, in every run."""

from harness.conformance.law import Law, Where
from harness.subject import said


class Runs(Law):
    """The subject takes every frame, and the end, without an error."""

    id = "subject"
    statement = (
        "the normalizer opens, takes every frame and the end, and raises nothing, in the first run "
        "and in each of the reruns"
    )
    source = "harness/README.md 'The pipeline'"
    example = "KeyError at a frame without `method`"

    def raised(self, doing: str, error: BaseException) -> None:
        """Report what the subject raised in the first run."""
        self.fail(
            "",
            f"{doing} without an error",
            said(error),
            "a line that is not understood is warned about, not raised",
        )

    def raised_again(self, doing: str, error: BaseException, where: Where) -> None:
        """Report what it raised in a rerun; once where one fault ends several."""
        got = said(error)
        if any(v.got == got for v in self.result.violations):
            return
        self.fail(
            "",
            f"{doing} without an error, as in the first run",
            got,
            "an end may come after any frame, and a session knows of no other",
            where,
        )
