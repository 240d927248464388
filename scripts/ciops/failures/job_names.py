"""The parts of a workload, as job names tell them apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ciops.failures.knowledge import JobNames


@dataclass(frozen=True, slots=True)
class Part:
    """A job's workload, and which part of it the job is (empty where names do not tell)."""

    workload: str
    part: str = ""


def part_of(name: str, names: JobNames) -> Part:
    """What a job name says: `ad-coverage_phi-4_ws2 [2 oci-hsg/run]` is part 2 of a workload."""
    match = names.pattern.search(name) if names.pattern else None
    if match is None:
        return Part(name.strip())
    left = f"{name[: match.start()]} {name[match.end() :]}"
    return Part(re.sub(r"\s+", " ", left).strip() or name.strip(), match["part"])


def is_workload(part: Part, names: JobNames) -> bool:
    """Whether the job ran the workload itself, not the logging around it."""
    return part.part in ("", names.workload_part)
