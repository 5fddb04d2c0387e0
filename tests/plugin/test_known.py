"""known-failures.toml in pytest: the same file and the same rules as of `harness check`."""

from pathlib import Path

import pytest

from harness.cli import main
from tests.plugin.team import IDS, PLUGIN, run

TEXT, COMMAND, _ = IDS
NAME = "known-failures.toml"
TWICE = ("--normalizer", "team:Twice", "-m", "law(id='turns')")


def entry(cassette: str, check: str = "turns", reason: str = "a turn ends twice") -> str:
    return f"[[failure]]\ncassette = '{cassette}'\ncheck = '{check}'\nreason = '{reason}'\n"


def listed(team: pytest.Pytester, *entries: str, name: str = NAME) -> Path:
    path = team.path / name
    path.write_text("".join(entries))
    return path


def test_what_is_listed_is_an_xfail_and_nothing_else_is_excused(team: pytest.Pytester) -> None:
    listed(team, entry(TEXT), entry(COMMAND))
    result = run(team, *TWICE, "-v", "-rx")
    assert result.parseoutcomes() == {"xfailed": 2, "failed": 1, "deselected": 3 * 26}
    result.stdout.fnmatch_lines(
        [f"*known failures: *{NAME}", f"XFAIL {TEXT}::turns - a turn ends twice"]
    )
    assert result.ret == 1


@pytest.mark.slow
def test_all_excused_is_a_pass_as_the_command_has_it(team: pytest.Pytester) -> None:
    listed(team, *map(entry, IDS))
    assert run(team, *TWICE).ret == 0


def test_a_listed_failure_that_passes_is_an_error(team: pytest.Pytester) -> None:
    listed(team, entry(TEXT))
    result = run(team, "--normalizer", "team:Right", "-m", "law(id='turns')")
    assert result.parseoutcomes()["failed"] == 1
    assert result.parseoutcomes()["passed"] == 2
    result.stdout.fnmatch_lines(
        [f"*expected*a failure, as {NAME} lists it: a turn ends twice", "*got*it passes"]
    )
    assert result.ret == 1


@pytest.mark.slow
def test_workers_of_xdist_have_the_same_list(team: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    listed(team, entry(TEXT), entry(COMMAND))
    outcomes = run(team, *TWICE, "-n", "2").parseoutcomes()
    assert outcomes == {"xfailed": 2, "failed": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (entry("codex-exec/codex-0.163.0/texd"), f"did you mean {TEXT}?"),
        (entry(TEXT, "turn"), "no check is called 'turn'; did you mean turns?"),
        (entry(TEXT) + entry(TEXT), "is listed before; list it once"),
        (entry(TEXT, reason=" "), "its reason is empty"),
        ("[[failure]\n", "an entry is [[failure]] with cassette, check, reason"),
    ],
)
def test_a_list_that_is_wrong_ends_the_run_as_it_ends_the_command(
    team: pytest.Pytester, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    listed(team, text)
    result = run(team, *TWICE)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in result.stderr.str()
    assert main(["--root", str(team.path), "check"]) in {1, 4}
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_a_file_is_named_and_has_to_be_there(team: pytest.Pytester) -> None:
    listed(team, *map(entry, IDS), name="mine.toml")
    assert run(team, *TWICE).ret == 1
    assert run(team, *TWICE, "--known-failures", "mine.toml").ret == 0
    result = run(team, *TWICE, "--known-failures", "none.toml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "none.toml: No such file" in result.stderr.str()
    alone = team.runpytest_subprocess("-p", PLUGIN, "--known-failures", "mine.toml")
    assert alone.ret == pytest.ExitCode.USAGE_ERROR
    assert "--known-failures needs --normalizer or --cassettes" in alone.stderr.str()


@pytest.mark.slow
def test_it_is_found_beside_the_cassettes(team: pytest.Pytester) -> None:
    listed(team, *map(entry, IDS))
    folder = team.mkdir("elsewhere")
    result = team.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", PLUGIN, *TWICE,
        "--cassettes", str(team.path / "cassettes"), "--rootdir", str(folder),
    )  # fmt: skip
    assert result.ret == 0


@pytest.mark.slow
def test_the_fixture_excuses_it_for_the_normalizer_of_the_option_alone(
    team: pytest.Pytester,
) -> None:
    listed(team, entry(TEXT))
    team.makepyfile(
        test_own=f"""
        from team import Twice

        def test_own(judge_cassette):
            known = judge_cassette("{TEXT}")
            assert [c.id for c in known.checks if c.status == "known"] == ["turns"]
            assert "turns" in judge_cassette("{TEXT}", Twice).failed()
        """
    )
    result = run(team, "--normalizer", "team:Twice", "test_own.py", "-k", "test_own")
    assert result.parseoutcomes()["passed"] == 1
    assert "failed" not in result.parseoutcomes()
