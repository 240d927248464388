"""Memory and open files of a process over its life, and whether they stay flat (Linux: /proc)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

EVERY = 0.1  # seconds
PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1024 * 1024


@dataclass(slots=True)
class Watch:
    """Samples of one process; `memory` in MiB."""

    memory: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def follow(self, pid: int) -> threading.Thread:
        """Samples until the process ends."""
        thread = threading.Thread(target=self._follow, args=(pid,), daemon=True)
        thread.start()
        return thread

    def _follow(self, pid: int) -> None:
        place = Path("/proc", str(pid))
        while True:
            try:
                pages = int((place / "statm").read_text().split()[1])
                files = len(list((place / "fd").iterdir()))
            except (OSError, IndexError):
                return
            if pages:  # a process that has ended and was not waited for has none
                self.memory.append(pages * PAGE / MIB)
                self.files.append(files)
            time.sleep(EVERY)

    def __str__(self) -> str:
        begun, ended = halves(self.memory)
        return (
            f"memory {begun:.0f} MiB in the second quarter, {ended:.0f} in the last, "
            f"{max(self.memory):.0f} at most; {max(self.files)} open files at most"
        )


def halves(samples: Sequence[float]) -> tuple[float, float]:
    """The medians of the second and of the last quarter: the first one is loading."""
    quarter = max(1, len(samples) // 4)
    return median(samples[quarter : 2 * quarter] or samples), median(samples[-quarter:])


def is_flat(samples: Sequence[float], slack: float) -> bool:
    """Whether the last quarter is no more than `slack` above the second."""
    begun, ended = halves(samples)
    return ended <= begun + slack


def problems(watch: Watch, name: str, slack: float, most_files: int) -> list[str]:
    """What is not flat about a process, in words."""
    found = []
    if not is_flat(watch.memory, slack):
        found.append(f"{name}: memory grew: {watch}")
    if max(watch.files) > most_files:
        found.append(f"{name}: {max(watch.files)} files were open at once")
    return found
