"""A normalizer that ends its process, and a run that is ended: never a pass, nothing left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.team import IDS, PLUGIN, SERVED, run

# Each is a run of pytest of its own, of some seconds.
pytestmark = pytest.mark.slow

TEXT, COMMAND, CLINE = IDS
TURNS = ("-m", "law(id='turns')")
WITHOUT, WITH = ("-p", "no:xdist"), ("-n", "2")
ALONE = pytest.param(WITHOUT, id="alone")
SHARED = pytest.param(WITH, id="xdist", marks=pytest.mark.slow)


@pytest.mark.parametrize("how", [ALONE, SHARED])
def test_one_that_exits_in_this_process_fails_its_own_case(
    team: pytest.Pytester, how: tuple[str, ...]
) -> None:
    result = run(team, "--normalizer", "team:Ends", "-m", "law(id='subject')", "-rfp", *how)
    assert result.parseoutcomes().items() >= {"passed": 2, "failed": 1}.items()
    result.stdout.fnmatch_lines(["*SystemExit: os._exit(0) would end the harness too*"])
    assert f"FAILED {COMMAND}::subject" in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("name", "said"), [("Cancels", "CancelledError: x"), ("Skips", "Skipped: no time")]
)
def test_what_is_no_exception_fails_its_own_case_and_skips_none(
    team: pytest.Pytester, name: str, said: str
) -> None:
    spec = f"team:{name}"
    result = run(team, "--normalizer", spec, "-m", "law(id='subject')", "-rfp", *WITHOUT)
    assert result.parseoutcomes().items() >= {"passed": 2, "failed": 1}.items()
    assert "skipped" not in result.parseoutcomes()
    assert said in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_one_that_kills_this_process_ends_the_run_as_no_pass(team: pytest.Pytester) -> None:
    result = run(team, "--normalizer", "team:Killed", *TURNS, *WITHOUT)
    assert result.ret == -signal.SIGKILL


def test_one_that_kills_a_worker_of_xdist_fails_what_ran_there(team: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    result = run(team, "--normalizer", "team:Killed", *TURNS, *WITH, "-rfp")
    assert result.parseoutcomes().items() >= {"passed": 2, "failed": 1}.items()
    result.stdout.fnmatch_lines(["*worker 'gw?' crashed while running*command::turns*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("how", [ALONE, SHARED])
@pytest.mark.parametrize(
    ("name", "said"),
    [("Ends", "ended: it ended (exit code 0)"), ("Killed", "crashed: it ended with SIGKILL")],
)
def test_one_behind_a_command_fails_its_own_case(
    team: pytest.Pytester, name: str, said: str, how: tuple[str, ...]
) -> None:
    result = run(
        team, "--normalizer", f"{SERVED} team:{name}", "-m", "law(id='subject')", "-rfp", *how
    )
    assert result.parseoutcomes().items() >= {"passed": 2, "failed": 1}.items()
    assert said in result.stdout.str()
    assert f"FAILED {COMMAND}::subject" in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("how", [ALONE, SHARED])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_normalizer_with_its_whole_group(
    team: pytest.Pytester, how: tuple[str, ...], number: signal.Signals
) -> None:
    """SIGINT comes to all of the terminal's group, as from a keyboard; SIGTERM to pytest alone."""
    here = team.path / "here"
    os.mkfifo(here)
    command = [
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", PLUGIN),
        *("--cassettes", "cassettes", "--normalizer", f"{SERVED} team:Waits", *TURNS, *how),
    ]  # fmt: skip
    pytest_ = subprocess.Popen(
        command, cwd=team.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        with here.open("rb") as held:
            assert held.read(1) == b"x"
            if number == signal.SIGINT:
                os.killpg(pytest_.pid, number)
            else:
                pytest_.send_signal(number)
            said, _ = pytest_.communicate(timeout=60)
            # At its end once neither it nor its child holds it.
            assert held.read() == b""
    finally:
        pytest_.kill()
        pytest_.wait()
    assert pytest_.returncode == (
        pytest.ExitCode.INTERRUPTED if number == signal.SIGINT else -number
    )
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in said


def test_a_truncated_cassette_passes_nothing(team: pytest.Pytester) -> None:
    path = team.path / "cassettes" / f"{TEXT}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    result = run(team, "--normalizer", "team:Right", "--scenario", "text", "-rA")
    ids = {line.split(" ")[1] for line in result.outlines if line.startswith(("PASSED", "SKIPPED"))}
    assert not [id_ for id_ in ids if id_.startswith(TEXT)]
    assert f"{TEXT}.jsonl: truncated after frame 7: it has no footer" in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_expected_file_without_a_cassette_fails(team: pytest.Pytester) -> None:
    Path(team.path, "cassettes", f"{COMMAND}.jsonl").unlink()
    result = run(team, "--normalizer", "team:Right", "-rE", *WITHOUT)
    assert result.parseoutcomes()["errors"] == 1
    assert f"ERROR {COMMAND}::orphan" in result.stdout.str()
    assert "an expected file whose cassette is gone" in result.stdout.str()
    assert "def setup" not in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    # Of another surface, it is not asked about.
    assert run(team, "--normalizer", "team:Right", "--surface", "acp").ret == 0


NOTHING = [
    ("-k", "no-such-check"),
    ("-m", "law(id='no-such-law')"),
    ("-m", "scenario(id='no-such-scenario')"),
    ("-m", "surface(id='opencode')"),
    ("--surface", "opencode"),
    ("--scenario", "no-such-scenario"),
    ("--surface", "acp", "-m", "scenario(id='command')"),
]


@pytest.mark.parametrize("nothing", [(*n, *WITHOUT) for n in NOTHING] + [(*NOTHING[1], *WITH)])
def test_a_filter_that_leaves_nothing_is_no_pass(
    team: pytest.Pytester, nothing: tuple[str, ...]
) -> None:
    result = run(team, "--normalizer", "team:Right", *nothing)
    assert "passed" not in result.parseoutcomes()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_an_id_that_the_filters_leave_out_is_no_pass(team: pytest.Pytester) -> None:
    result = run(team, "--normalizer", "team:Right", "--scenario", "command", f"{TEXT}::turns")
    assert "passed" not in result.parseoutcomes()
    # No file is called so either.
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_an_empty_corpus_is_no_pass(team: pytest.Pytester) -> None:
    (team.path / "none").mkdir()
    result = team.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", PLUGIN, "--normalizer", "team:Right", "--cassettes", "none"
    )
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_normalizer_that_claims_none_of_it_is_no_pass(team: pytest.Pytester) -> None:
    team.makepyfile(
        claims="""
        from team import Right

        class Claims(Right):
            surfaces = ("opencode",)
        """
    )
    result = run(team, "--normalizer", "claims:Claims")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
