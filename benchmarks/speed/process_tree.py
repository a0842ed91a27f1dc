"""Processor time and memory of a process and all that it has started, from Linux's /proc."""

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Usage:
    """What some processes have used: seconds of processor time, and MB of memory; shared pages count once."""

    seconds: float
    memory: float


def processes_below(root: int) -> list[int]:
    """A process and its descendants."""
    parents = {pid: _stat(pid) for pid in (int(one.name) for one in PROC.iterdir() if one.name.isdigit())}
    found, new = [root], [root]
    while new:
        new = [pid for pid, stat in parents.items() if stat is not None and int(stat[1]) in new]
        found += new
    return found


def usage(pids: list[int]) -> Usage:
    """Of processes that run, and of those children of theirs that have ended."""
    ticks = os.sysconf("SC_CLK_TCK")
    stats = [stat for stat in map(_stat, pids) if stat is not None]
    return Usage(sum(sum(map(int, stat[11:15])) for stat in stats) / ticks, sum(map(_memory, pids)))


def _stat(pid: int) -> list[str] | None:
    """The fields from the state on, which is the first: after the name, which may have spaces."""
    try:
        return (PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None


def _memory(pid: int) -> float:
    """The proportional set size: a page that n processes share counts 1/n in each."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
