"""A failed chain of pipelines, reported on for real over HTTP: the pipeline part of `make demo`.

    python examples/demo_pipeline.py [FOLDER]

The GitLab and the GitHub are on this machine; what happened in them is invented. A nightly pipeline
triggers a coverage run, whose child holds nine failed jobs; one more trigger was refused. Last
week's run was green, and two commits have touched the failing file since.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from ciops.failures.app import main  # noqa: E402
from fakes.github import FakeGitHub  # noqa: E402
from fakes.gitlab import FakeGitLab  # noqa: E402

Part = dict[str, Any]
UPSTREAM, DOWNSTREAM = 4101, 7702
PATHS = {UPSTREAM: "ftp/infra/autodeploy-dashboard", DOWNSTREAM: "dl/jet/ci"}
CODE = "NVIDIA/TensorRT-LLM"
SHARDING = "tensorrt_llm/_torch/auto_deploy/transform/library/sharding.py"
COMMIT = "5b1f0e9d3c7a48e2b6d4f8a1c0e7935d2b4a6f18"
SINCE = ("b80c4e51d97f2a3608c5e14fb9d2a7760e3c81f4", "2f9d7a06c4b138e5f0a29cd6713be84d5506fa91")
FIRST = "71e6c2d8093fb54ae8d017c9a64f2b3580dd9e1c"
FORM = (ROOT / "tests/data/failures/forms/06-bug-report.yml").read_text("utf-8")


def log(model: str, *failure: str) -> str:
    """A trace: what the runner says, the resolved configuration, work, and how it ended."""
    work = [
        f"[TRT-LLM] [I] Loaded shard {number}/6 of {model} in 1.{number:02}s, checksum errors: 0"
        for number in range(1, 7)
    ]
    return "\n".join(
        [
            "Running with gitlab-runner 18.4.0 on jet-slurm",
            "resolved workload config:",
            f"  model: {model}",
            "  world_size: 2",
            f"  commit: {COMMIT}",
            "  runtime: trtllm",
            "started",
            *work,
            *failure,
            "Uploading artifacts for failed job",
            "ERROR: Job failed: exit code 1",
            "",
        ]
    )


def traceback(place: str, function: str, error: str) -> tuple[str, ...]:
    return (
        "Traceback (most recent call last):",
        f'  File "/usr/local/lib/python3.12/dist-packages/{place}", line 318, in {function}',
        "    return self._run(graph)",
        error,
        "RuntimeError: Executor worker returned error",
    )


def mismatch(left: str, right: str) -> tuple[str, ...]:
    error = f"RuntimeError: a and b must have same reduction dim, but got [{left}] X [{right}]."
    return traceback(SHARDING, "_apply", error)


GATED = traceback(
    "huggingface_hub/utils/_http.py",
    "hf_raise_for_status",
    "huggingface_hub.errors.GatedRepoError: 403 Client Error. Access to this model is restricted.",
)
FAILURES = {
    "ad-coverage_phi-4": log("microsoft/phi-4", *mismatch("s44*s70, 5120", "2560, 5120")),
    "ad-coverage_mellum": log("JetBrains/Mellum-4b", *mismatch("s11*s9, 3072", "1536, 3072")),
    "ad-coverage_olmo-2": log("allenai/OLMo-2-7B", *mismatch("s3*s8, 4096", "2048, 4096")),
    "ad-coverage_llama-3.2": log("meta-llama/Llama-3.2-11B", *GATED),
    "ad-coverage_medgemma": log("google/medgemma-4b", *GATED),
    "ad-coverage_nemotron": log(
        "nvidia/Nemotron-H-8B", "ModuleNotFoundError: No module named 'mamba_ssm'"
    ),
    "ad-coverage_qwen3": log("Qwen/Qwen3-30B", "srun: error: Node failure on pool0-00412"),
    "ad-coverage_gemma-3": log("google/gemma-3", "RuntimeError: Executor worker returned error"),
    "ad-coverage_exaone": None,  # its trace was erased
}


def pipeline(number: int, day: int, status: str, **fields: object) -> Part:
    when = f"2026-05-{day:02}T0{number % 10}:00:00.000Z"
    times = {"created_at": when, "updated_at": when}
    return {"id": number, "sha": f"{number:040x}", "status": status, **times, **fields}


def bridge(number: int, name: str, below: Part | None, **fields: object) -> Part:
    reason = "downstream_pipeline_failed" if below else "insufficient_bridge_permissions"
    base = {"id": number, "name": name, "stage": "trigger", "status": "failed", **fields}
    return {**base, "failure_reason": reason, "downstream_pipeline": below}


def gitlab() -> FakeGitLab:
    """The pipelines. The links need the address of the fake, so they come last."""
    jobs = [
        {"id": 500 + number, "name": f"{name} [2 h100/run]", "stage": "jet", "status": "failed"}
        for number, name in enumerate(FAILURES)
    ]
    green = [{**one, "id": one["id"] - 200, "status": "success"} for one in jobs]
    known = {"project_id": DOWNSTREAM, "iid": 1, "ref": "main", "source": "pipeline"}
    child = pipeline(93, 4, "failed", source="parent_pipeline", name="jet workloads")
    middle = pipeline(92, 4, "failed", source="pipeline", name="jet: model-coverage")
    speed = pipeline(94, 4, "failed", source="pipeline", name="jet: benchmark")
    last_week = pipeline(83, 1, "success", source="parent_pipeline", name="jet workloads")
    nightly = pipeline(91, 4, "failed", source="schedule", name="AutoDeploy nightly")
    fake = FakeGitLab(projects=[{"id": key, "path": path} for key, path in PATHS.items()])
    up, down = fake.project(UPSTREAM), fake.project(DOWNSTREAM)
    for project, one, its_jobs, bridges in (
        (down, last_week, green, []),
        (down, child, jobs, []),
        (down, middle, [], [bridge(402, "jet-run", {**known, **child})]),
        (down, speed, [], []),
        (
            up,
            nightly,
            [],
            [
                bridge(401, "trigger-model-coverage", {**known, **middle}),
                bridge(403, "trigger-benchmark", {**known, **speed}),
                bridge(404, "trigger-model-coverage: [gb200]", None),
            ],
        ),
    ):
        place = f"{fake.url}/{project.path}/-"
        project.add_pipeline(
            {**one, "web_url": f"{place}/pipelines/{one['id']}"},
            [with_times(job, one, f"{place}/jobs/{job['id']}") for job in its_jobs],
            [linked(with_times(part, one, f"{place}/jobs/{part['id']}"), fake) for part in bridges],
        )
    up.files[".github/ISSUE_TEMPLATE/06-bug-report.yml"] = FORM.encode()
    return fake


def with_times(part: Part, of: Part, url: str) -> Part:
    """A job or bridge as it ran; a failed job has a reason, and a trace if any is left."""
    found = {**part, "created_at": of["created_at"], "started_at": of["created_at"], "web_url": url}
    text = FAILURES.get(part["name"].partition(" ")[0])
    if part["status"] == "failed":
        found.setdefault("failure_reason", "script_failure")
        if text is not None:
            found["trace"] = text
    return found


def linked(part: Part, fake: FakeGitLab) -> Part:
    below = part["downstream_pipeline"]
    if below is None:
        return part
    url = f"{fake.url}/{PATHS[below['project_id']]}/-/pipelines/{below['id']}"
    brief = {key: value for key, value in below.items() if key != "name"}
    return {**part, "downstream_pipeline": {**brief, "web_url": url}}


def github() -> FakeGitHub:
    """The repository that the failing code is in."""
    history = [
        (COMMIT, "Release 1.2.0rc3", ["README.md"], "2026-05-03T12:00:00Z"),
        (SINCE[0], "Shard fused QKV along heads (#8841)", [SHARDING], "2026-05-03T09:00:00Z"),
        (SINCE[1], "Rename sharding helpers (#8790)", [SHARDING], "2026-05-02T09:00:00Z"),
        (FIRST, "Add AutoDeploy", [SHARDING], "2026-04-01T09:00:00Z"),
    ]
    commits = [
        {"sha": sha, "message": message, "paths": paths, "date": date}
        for sha, message, paths, date in history
    ]
    files = {SHARDING: "def _apply(graph):\n    return graph\n"}
    return FakeGitHub(CODE, commits=commits, files=files, labels=["bug"])


def run(folder: Path) -> int:
    """Report on the newest nightly and file what deserves it; the exit status of the report."""
    with gitlab() as pipelines, github() as code:
        env = {
            **{"GITLAB_TOKEN": "no-secret-of-gitlab", "GITLAB_URL": pipelines.url},
            **{"GITHUB_TOKEN": "no-secret-of-github", "GITHUB_API_URL": code.url},
            **{key: os.environ[key] for key in ("NO_COLOR", "TERM") if key in os.environ},
        }
        given = ["--format", "md", "csv", "json", "html", "--output", str(folder), "--track"]
        return main(["report", *given], env)


if __name__ == "__main__":
    raise SystemExit(run(Path(sys.argv[1] if len(sys.argv) > 1 else "out/demo/pipeline")))
