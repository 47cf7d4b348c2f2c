"""What the terminal and its page advise where nothing is shown to predict."""

import re

import numpy as np
import pytest
from tests.cli.command import cohort, superfactor

_PYTHON = re.compile(
    r"\b(class_weight|n_components|n_splits|n_repeats|certify|groups)=|superfactor\.\w+|SMF\w+\("
)


@pytest.mark.parametrize("kind", ["classes", "uneven", "numbers", "times", "counts"])
def test_a_table_of_noise(kind, tmp_path):
    rng = np.random.default_rng(3)
    genes = cohort(n=40).filter(like="gene")
    n = len(genes)
    y = {
        "classes": {"y": rng.permutation(["a", "b"] * (n // 2))},
        "uneven": {"y": rng.permutation(["a"] * (n - 12) + ["b"] * 12)},
        "numbers": {"y": rng.standard_normal(n)},
        "counts": {"y": rng.poisson(4, n)},
        "times": {"y": rng.exponential(9, n), "dead": rng.integers(0, 2, n)},
    }[kind]
    path = tmp_path / "noise.csv"
    genes.assign(**y).to_csv(path, index=False)
    asked = {"times": ["--time", "y", "--event", "dead"], "counts": ["--target", "y", "--task", "counts"]}
    task = ["--task", "regression"] if kind == "numbers" else []
    roles = asked.get(kind, ["--target", "y", *task])
    quick = ["--rank", "2", "--xi", "0.1", "--lam", "0.1", "--no-stable", "--cv", "3", "--repeats", "1"]
    page = tmp_path / "p.html"
    options = [*roles, *quick, "--out", tmp_path / "m.skops", "--report", page]
    done = superfactor("fit", path, *options)
    assert done.code == 0, done
    said = " ".join(done.out.split())
    if "Not shown to be better" in said:
        lines = [line for line in said.split("Try: ")[1:] if "--rank" in line or "--balance" in line]
        assert all("decide" in line for line in lines)
    shown = page.read_text(encoding="utf-8")
    shown = " ".join(re.findall(r'<section class="verdict.*?</section>', shown, re.S))
    assert not _PYTHON.search(said) and not _PYTHON.search(shown)
    facts = superfactor("fit", path, *options, "--json").json
    assert not any(_PYTHON.search(line) for line in facts["verdict"]["advice"])
    assert not any(_PYTHON.search(line) for line in facts["nested"]["verdict"]["advice"])
