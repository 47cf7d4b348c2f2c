"""The workflows pin every action by commit, call commands that exist and restrict what may be written."""

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
pytestmark = pytest.mark.skipif(not FILES, reason="the sdist has no workflows")


def _jobs():
    return [
        pytest.param(job, id=f"{file.stem}-{name}")
        for file in FILES
        for name, job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].items()
    ]


def _commands():
    return [
        pytest.param(line.strip(), id=f"{job.id}-{number}")
        for job in _jobs()
        for number, step in enumerate(job.values[0]["steps"])
        for line in step.get("run", "").splitlines()
    ]


def test_there_is_a_workflow_for_checks_releases_and_the_site():
    assert [file.stem for file in FILES] == ["ci", "release", "site"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_actions_are_pinned_by_commit_with_the_version_in_a_comment(file):
    used = re.findall(r"uses: *(.*)", file.read_text(encoding="utf-8"))
    assert used
    pinned = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [action for action in used if not pinned.fullmatch(action)] == []


def test_an_action_has_one_version_in_all_workflows():
    text = "".join(file.read_text(encoding="utf-8") for file in FILES)
    versions = {}
    for name, commit, version in re.findall(r"uses: (\S+)@(\w+) # (\S+)", text):
        versions.setdefault(name, set()).add((commit, version))
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("command", _commands())
def test_a_command_names_what_is_in_the_repository(command):
    rules = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    if command.startswith("make "):
        assert set(command.split()[1:]) <= set(rules)
    for path in re.findall(r"(?:^|--ignore=| )((?:\.ci|tests|src|tools)/[\w./-]+)", command):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_workflow_may_only_read_unless_a_job_deploys(file):
    flow = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert flow["permissions"] == {"contents": "read"}
    writing = {name for name, job in flow["jobs"].items() if "write" in job.get("permissions", {}).values()}
    assert writing == {"ci": set(), "release": {"publish"}, "site": {"deploy"}}[file.stem]


@pytest.mark.parametrize("job", _jobs())
def test_a_job_ends_in_time_and_leaves_no_credentials(job):
    assert job["timeout-minutes"] <= 60
    for step in job["steps"]:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_every_system_is_tested_with_the_lowest_and_the_highest_python():
    ci = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    pythons = ci["jobs"]["checks"]["strategy"]["matrix"]["python"]
    matrix = ci["jobs"]["systems"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == [pythons[0], pythons[-1]]


def test_only_a_version_tag_releases():
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    assert flow[True] == {"push": {"tags": ["v*"]}}  # YAML reads "on" as true
