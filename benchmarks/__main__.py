"""Runs the benchmarks, each in its own process: the short ones, or one by name with options of its own."""

import argparse
import ast
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
SHORT = ("fit_and_ask_time", "large_pool_questions", "bad_episodes", "botorch_comparison")
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Benchmark(NamedTuple):
    """A module with a `main`."""

    module: str
    headline: str

    def run(self, options: Sequence[str] = ()) -> bool:
        """In a process of its own; says whether it went well."""
        print(f"\n=== {self.module}: {self.headline}", flush=True)
        command = [sys.executable, "-m", self.module, *options]
        done = subprocess.run(command, cwd=HERE.parent, env=os.environ | ONE_THREAD, check=False)
        return done.returncode == 0


def benchmarks() -> dict[str, Benchmark]:
    """All of them by name; nothing is imported."""
    found = {}
    for file in sorted([*HERE.rglob("[!_]*.py"), *HERE.glob("*/__main__.py")]):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            path = file.parent if file.stem == "__main__" else file.with_suffix("")
            module = ".".join(path.relative_to(HERE.parent).parts)
            found[path.name] = Benchmark(module, (ast.get_docstring(tree) or "").partition("\n")[0])
    return found


def main(argv: Sequence[str] | None = None) -> int:
    known = benchmarks()
    lines = (f"  {name:22s} {one.headline}" for name, one in known.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=(__doc__ or "").strip(),
        epilog="\n".join(["benchmarks:", *lines, "", "options of one: python -m benchmarks NAME --help"]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"which (default: {' '.join(SHORT)})")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTIONS", help="of that one")
    given = parser.parse_args(argv)
    if given.name is not None and given.name not in known:
        parser.error(f"there is no benchmark {given.name}: there are {', '.join(known)}")
    names = SHORT if given.name is None else (given.name,)
    failed = [name for name in names if not known[name].run(given.options)]
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
