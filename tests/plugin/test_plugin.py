"""The pytest plugin in a project that has only the package: pytester, a process each time."""

import pytest

from tests.plugin.team import IDS, PLUGIN, run


def test_a_right_normalizer_passes_each_check_of_each_cassette(team: pytest.Pytester) -> None:
    result = run(team, "--normalizer", "team:Right", "-v")
    result.stdout.fnmatch_lines(["codex-exec/codex-0.163.0/text::turns PASSED*"])
    outcomes = result.parseoutcomes()
    assert outcomes.keys() <= {"passed", "skipped"}
    assert outcomes["passed"] % len(IDS) == 0
    assert result.ret == 0


def test_a_broken_one_is_caught_by_the_test_of_the_law_and_told_as_in_a_report(
    team: pytest.Pytester,
) -> None:
    result = run(team, "--normalizer", "team:Twice", "-v", "--level", "laws")
    failed = {line.split(" ")[0] for line in result.outlines if " FAILED" in line}
    assert failed == {f"{id_}::turns" for id_ in IDS}
    result.stdout.fnmatch_lines(["*expected*one terminal event for each turn*"])
    assert "Traceback" not in result.stdout.str()
    assert result.ret == 1


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--surface", "acp"], 1),
        pytest.param(["--scenario", "text"], 2, marks=pytest.mark.slow),
        pytest.param(["-m", "law(id='turns')"], 3, marks=pytest.mark.slow),
        (["-m", "law(id='turns') and surface(id='codex-exec')"], 2),
        (["-m", "scenario(id='command') and law(id='turns')"], 1),
        pytest.param(["-k", "turns and cline"], 1, marks=pytest.mark.slow),
    ],
)
def test_a_choice_of_them(team: pytest.Pytester, arguments: list[str], count: int) -> None:
    law = [] if "turns" in str(arguments) else ["-m", "law(id='turns')"]
    result = run(team, "--normalizer", "team:Right", *arguments, *law)
    assert result.parseoutcomes()["passed"] == count
    assert result.ret == 0


@pytest.mark.slow
def test_workers_of_xdist_share_it(team: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    alone = run(team, "--normalizer", "team:Twice").parseoutcomes()
    shared = run(team, "--normalizer", "team:Twice", "-n", "2").parseoutcomes()
    assert {k: alone.get(k) for k in ("passed", "failed")} == {
        k: shared.get(k) for k in ("passed", "failed")
    }


def test_nothing_to_run_is_no_pass(team: pytest.Pytester) -> None:
    assert run(team, "--normalizer", "team:Right", "-k", "no-such-check").ret == 5


@pytest.mark.parametrize("spec", ["team:Nobody", "nobody:Right", "team"])
def test_a_normalizer_that_cannot_be_loaded_is_a_wrong_use(
    team: pytest.Pytester, spec: str
) -> None:
    result = run(team, "--normalizer", spec)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_cassette_that_cannot_be_used_is_an_error(team: pytest.Pytester) -> None:
    path = team.path / "cassettes" / f"{IDS[0]}.jsonl"
    path.write_bytes(path.read_bytes()[:-200])
    result = run(team, "--normalizer", "team:Right")
    assert result.ret != 0
    result.stdout.fnmatch_lines([f"*{IDS[0]}*"])


def test_fixtures_load_and_replay_a_cassette(team: pytest.Pytester) -> None:
    team.makepyfile(
        test_own=f"""
        def test_own(load_cassette, replay_cassette, judge_cassette):
            cassette = load_cassette("{IDS[0]}")
            assert cassette.header.scenario == "text"
            assert len(list(cassette)) == 7
            events = replay_cassette("{IDS[0]}")
            assert [e.type for e in events][-2:] == ["turn.completed", "session.exited"]
            assert judge_cassette("{IDS[0]}").verdict == "pass"
        """
    )
    result = team.runpytest_subprocess("-p", "no:cacheprovider", "-p", PLUGIN, "test_own.py")
    assert result.parseoutcomes() == {"passed": 1}
