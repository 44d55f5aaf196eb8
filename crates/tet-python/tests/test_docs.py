"""Every example of the documentation does what it shows, and everything public has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tetfile

# The module for PyTorch is tested where PyTorch is.
MODULES = [name for _, name, _ in pkgutil.iter_modules(tetfile.__path__) if name not in ("_tetfile", "torch")]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("name", ["__init__", *MODULES])
def test_examples_do_what_they_show(name: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in files.iterdir():
        shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    module = tetfile if name == "__init__" else importlib.import_module(f"tetfile.{name}")
    known = {"tetfile": tetfile, "np": np, "os": os}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for example in doctest.DocTestFinder().find(module, globs=known):
        runner.run(example)
    assert runner.failures == 0


@pytest.mark.parametrize("name", ["python", "python-examples"])
def test_the_guide_does_what_it_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for number, block in enumerate(blocks_of(name)):
        # Each can be pasted by itself.
        runner.run(doctest.DocTestParser().get_doctest(block, {}, f"{name} {number}", None, None))
    found = runner.summarize(verbose=False)
    assert found.failed == 0 and found.attempted > 30


@pytest.mark.parametrize("name", ["python", "python-examples"])
def test_the_guide_has_the_types_that_the_package_states(name: str, tmp_path: Path) -> None:
    paths = []
    for number, block in enumerate(blocks_of(name)):
        paths.append(tmp_path / f"block_{number}.py")
        paths[-1].write_text("".join(each.source for each in doctest.DocTestParser().get_examples(block)))
    # Functions of the examples have no types, and other packages no stubs.
    lenient = ["--allow-untyped-defs", "--allow-untyped-calls", "--ignore-missing-imports", "--follow-imports=silent"]
    command = [sys.executable, "-m", "mypy", "--strict", *lenient, f"--cache-dir={tmp_path}", *map(str, paths)]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def blocks_of(name: str) -> list[str]:
    """The examples of a page of the guide."""
    page = Path(__file__).parents[3] / f"docs/guide/{name}.md"
    return re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)


def test_everything_public_has_an_example() -> None:
    bare = []
    for name in tetfile.__all__:
        member = getattr(tetfile, name)
        if name.startswith("__"):
            continue
        members = {name: member}
        if inspect.isclass(member) and not issubclass(member, Exception):
            owned = inspect.getmembers(member)
            members |= {f"{name}.{of}": it for of, it in owned if not of.startswith("_") and _is_ours(it)}
        exempt = inspect.isclass(member) and issubclass(member, tetfile.TetError) and member is not tetfile.TetError
        bare += [of for of, it in members.items() if not exempt and ">>>" not in (it.__doc__ or "")]
    assert bare == []


def _is_ours(member: object) -> bool:
    found = member.fget if isinstance(member, property) else member
    return inspect.isfunction(found) and found.__module__.startswith("tetfile")
