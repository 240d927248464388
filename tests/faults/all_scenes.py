"""Every command that talks to a service."""

from __future__ import annotations

import pytest

from faults import failures_scenes, postmortem_scenes, triage_scenes

SCENES = [*triage_scenes.SCENES, *failures_scenes.SCENES, *postmortem_scenes.SCENES]
EACH = pytest.mark.parametrize("scene", [pytest.param(scene, id=scene.id) for scene in SCENES])
