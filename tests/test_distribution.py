"""Distributions: a package page with valid links, an sdist with its tests, tested versions."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCE = PROJECT["project"]["urls"]["Source"]
NEEDED = [
    *PROJECT["project"]["dependencies"],
    *(line for lines in PROJECT["project"]["optional-dependencies"].values() for line in lines),
]
LIBRARIES = sorted({line for line in NEEDED if not line.startswith("superfactor[")})


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Metadata of the wheel, and the names of the files in wheel and sdist."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as file:
        inside = file.namelist()
        (name,) = (name for name in inside if name.endswith("dist-info/METADATA"))
        metadata = message_from_bytes(file.read(name))
    with tarfile.open(sdist) as file:
        unpacked = {member.name.partition("/")[2] for member in file if member.isfile()}
    return metadata, set(inside), unpacked


# What is left out: pages that a build makes, and tests of what stays in the repository.
SDIST = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]
LEFT_OUT = tuple(SDIST["exclude"])


def files(folder):
    found = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    names = {path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts}
    return {name for name in names if not name.startswith(LEFT_OUT)}


def test_links_and_pictures_of_the_package_page_are_complete_and_valid(built):
    metadata, _, _ = built
    assert metadata["Description-Content-Type"] == "text/markdown"
    page = metadata.get_payload(decode=True).decode()
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", page)
    assert {target for _, target in links if not target.startswith("https://")} == set()
    ours = [(picture, target) for picture, target in links if target.startswith(SOURCE)]
    assert {picture for picture, _ in ours} == {"", "!"}
    menu = [line.split(", ", 1) for line in metadata.get_all("Project-URL")]
    assert {name for name, _ in menu} == {"Source", "Documentation", "Changelog", "Issues"}
    assert {target for _, target in menu if not target.startswith(SOURCE)} == set()
    ours += [("", target) for _, target in menu if "/main/" in target]
    for picture, target in ours:
        kind, path = target.removeprefix(f"{SOURCE}/").split("/main/")
        assert kind == ("raw" if picture else "blob")
        assert (ROOT / path.partition("#")[0]).exists()


def test_the_package_page_has_the_text_of_the_readme(built):
    bare = re.compile(r"\]\([^)]*\)")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = built[0].get_payload(decode=True).decode()
    assert bare.sub("", page).strip() == bare.sub("", readme).strip()


def test_developer_tools_are_not_in_the_package(built):
    metadata, inside, _ = built
    extras = set(metadata.get_all("Provides-Extra"))
    assert extras == set(PROJECT["project"]["optional-dependencies"])
    assert not extras & set(PROJECT["dependency-groups"])
    assert not [line for line in metadata.get_all("Requires-Dist") if "pytest" in line]
    assert {name.partition("/")[0].partition("-")[0] for name in inside} == {"superfactor"}


def test_the_wheel_has_every_file_of_the_package(built):
    assert {name.removeprefix("src/") for name in files("src/superfactor")} <= built[1]


@pytest.mark.parametrize(
    ("data", "said"),
    [("prostate", ["MIT License", "John A. Ramey"]), ("t_cells", ["BSD 3-Clause License", "Theis Lab"])],
)
def test_licences_of_bundled_data_ship_with_them(built, data, said):
    name = f"superfactor/datasets/data/{data}_licence.txt"
    assert {name, name.replace("_licence.txt", ".npz")} <= built[1]
    assert f"src/{name}" in built[2]
    text = (ROOT / "src" / name).read_text(encoding="utf-8")
    assert [line for line in said if line not in text] == []


def test_the_sdist_has_the_files_of_its_tests(built):
    alone = {"pyproject.toml", "hatch_build.py", "Makefile", "README.md", "CHANGELOG.md", "LICENSE"}
    wanted = files("tests") | files("src") | files("docs") | files("tools") | alone
    assert wanted - built[2] == set()
    assert not [name for name in built[2] if name.startswith(LEFT_OUT)]


@pytest.mark.parametrize("line", LIBRARIES)
def test_every_library_has_a_lowest_version(line):
    """In the environment of `make test-lowest` it is the one installed: declared is what is tested."""
    name, lowest = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", line).groups()
    if Path(sys.prefix).name != ".venv-lowest" or name == "torch":
        return
    installed = version(name).split(".")
    assert installed[: len(lowest.split("."))] == lowest.split("."), version(name)
    assert set(installed[len(lowest.split(".")) :]) <= {"0"}


def test_tests_in_commands_exist():
    """Of the lowest versions and of the sdist: a renamed file would be left out."""
    rooms = re.search(r"LOWEST_ROOMS := \$\(addprefix tests/,(.*?)\)", (ROOT / "Makefile").read_text(), re.S)
    named = [f"tests/{name}" for name in rooms[1].replace("\\", " ").split()]
    named += re.findall(r"tests/\S+", (ROOT / "tools" / "test_sdist.sh").read_text())
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_one_file_has_the_address_of_the_project():
    """The address may change, and a forgotten copy would be wrong."""
    address = SOURCE.removeprefix("https://")
    known = {".cff", ".cfg", ".md", ".py", ".rst", ".svg", ".toml", ".yaml", ".yml"}
    found = (path for folder in ("src", "docs", "tools", ".github") for path in (ROOT / folder).rglob("*"))
    pages = [path for path in (*ROOT.glob("*"), *found) if path.suffix in known]
    assert len(pages) > 100
    named = [path for path in pages if address in path.read_text(encoding="utf-8")]
    assert [path.name for path in named] == ["pyproject.toml"]


def test_the_tested_pythons_are_the_declared_ones():
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    if not workflow.exists():
        pytest.skip("the sdist has no workflow")
    tested = set(re.findall(r'"(3\.\d+)"', workflow.read_text(encoding="utf-8")))
    prefix = "Programming Language :: Python :: 3."
    declared = [line for line in PROJECT["project"]["classifiers"] if line.startswith(prefix)]
    assert {line.rpartition(" ")[2] for line in declared} == tested
    assert PROJECT["project"]["requires-python"] == f">={min(tested)}"
