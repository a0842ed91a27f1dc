"""Runs the benchmarks, each in its own process: all the short ones, or those that are named."""

import argparse
import ast
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHORT = ("fit_and_ask_time", "inference_accuracy", "time_by_size", "botorch_comparison")
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def benchmarks() -> dict[str, str]:
    """Every module here that has a `main`, with the first line of its docstring; nothing is imported."""
    trees = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(HERE.glob("[!_]*.py"))}
    found = {name: ast.get_docstring(tree) or "" for name, tree in trees.items() if _has_main(tree)}
    order = [*SHORT, *(name for name in found if name not in SHORT)]
    return {name: found[name].partition("\n")[0] for name in order}


def _has_main(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)


def run(name: str, headline: str) -> bool:
    """Run one of them, and say whether it went well."""
    print(f"\n=== {name}: {headline}", flush=True)
    command = [sys.executable, "-m", f"benchmarks.{name}"]
    return subprocess.run(command, cwd=HERE.parent, env=os.environ | ONE_THREAD, check=False).returncode == 0


def main(argv: Sequence[str] | None = None) -> int:
    known = benchmarks()
    lines = (f"  {n:22s} {'' if n in SHORT else '(only by name) '}{line}" for n, line in known.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=(__doc__ or "").strip(),
        epilog="\n".join(["benchmarks:", *lines, "", "options of one: python -m benchmarks.NAME --help"]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which (default: {' '.join(SHORT)})")
    names = parser.parse_args(argv).names or SHORT
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"there is no benchmark {' '.join(unknown)}: there are {', '.join(known)}")
    failed = [name for name in names if not run(name, known[name])]
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
