"""`harness matrix`: write `matrix/`, or say whether it is what the cassettes show."""

from harness import output as out
from harness.matrix.build import build, stale, to_json, write
from harness.matrix.page import PAGE, page, same
from harness.matrix.render import files, summary, terminal
from harness.project import Project


def matrix_command(project: Project, *, check: bool, json: bool) -> int:
    """Run the command; return its exit code."""
    if not project.cassette_paths():
        out.note(f"harness matrix: {project.cassettes} holds no cassette; `harness record --all`")
        return out.NOTHING_RUN
    matrix = build(project)
    content = files(matrix) | {PAGE: page(matrix, project)}
    if check:
        different = [
            name
            for name in stale(project, content)
            # Which zlib compressed the page makes no difference.
            if name != PAGE or not same(project.matrix / PAGE, content[PAGE])
        ]
        for name in different:
            out.note(f"harness matrix: {project.matrix / name} is stale; run `harness matrix`")
        code = out.NOT_CONFORMING if different else out.OK
    else:
        for path in write(project, content):
            out.note(f"wrote {path}")
        code = out.OK
    if json:
        out.say(to_json(matrix).decode().rstrip("\n"))
    elif not check:
        out.say(terminal(matrix))
        out.say("\n" + "\n".join(summary(matrix)))
    for one in matrix.unusable:
        out.note(f"harness matrix: not usable: {one}")
    return out.UNUSABLE if matrix.unusable else code
