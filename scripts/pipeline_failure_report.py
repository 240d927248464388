"""pipeline-failure-report: from a failed pipeline to root causes. `--help` lists the commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_SITE = os.environ.get("TRIAGE_ACTION_SITE")
sys.path[:0] = [str(Path(__file__).resolve().parent), *([_SITE] if _SITE else [])]

from ciops.failures.app import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], os.environ))
