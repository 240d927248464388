"""Reports that the tests of the renderers share: a usual one, an empty one, a big one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from ciops.failures.config_dump import HintValue
from ciops.failures.report_model import (
    ACTIONABLE,
    DEFAULT_BRANCH,
    EXISTING,
    EXTERNAL_OR_INFRA,
    FILED,
    HISTORY_UNREADABLE,
    ISSUE_ONLY,
    NAMED_BY_TRACE,
    WEAK_EVIDENCE,
    Bucket,
    Change,
    CodeReference,
    DeadEndBridge,
    FailedJob,
    PipelineStep,
    Remark,
    Report,
    Unreadable,
)
from ciops.failures.scan_result import NumberedLine

GITLAB = "https://gitlab.example.com"
LAB = f"{GITLAB}/lab/runs"
PACKAGE = "/usr/local/lib/python3.12/dist-packages/loom"


def lines(first: int, *texts: str) -> tuple[NumberedLine, ...]:
    return tuple(NumberedLine(first + index, text) for index, text in enumerate(texts))


def pipeline(
    id: int, project: str, parent: int | None = None, bridge: int | None = None, name: str = ""
) -> PipelineStep:
    via = f"{GITLAB}/{project}/-/jobs/{bridge}" if bridge else ""
    url = f"{GITLAB}/{project}/-/pipelines/{id}"
    return PipelineStep(id, url, project, "main", "9f2c1e07ab34", parent, bridge, name, via)


def job(
    id: int,
    workload: str,
    excerpt: Sequence[NumberedLine] = (),
    line: int | None = None,
    model: str | None = None,
    hints: Mapping[str, HintValue] = MappingProxyType({}),
    **facts: object,
) -> FailedJob:
    text = next((one.text for one in excerpt if one.number == line), None)
    usual = FailedJob(
        id=id,
        name=f"{workload} [2 gpu-a/run]",
        pipeline_id=5127,
        job_url=f"{LAB}/-/jobs/{id}",
        log_url=f"{LAB}/-/jobs/{id}/raw",
        workload=workload,
        via_bridge=771,
        line=line,
        text=text,
        evidence="strong" if line else "weak",
        model=model,
        runtime_hints=hints,
        excerpt=tuple(excerpt),
    )
    return replace(usual, **facts)  # type: ignore[arg-type]


def shard_trace(first: int, dims: str) -> tuple[NumberedLine, ...]:
    return lines(
        first,
        "[05/04/2026-10:31:02] [LOOM] [I] Running transform 14 of 31: shard_matmul",
        "[05/04/2026-10:31:05] [LOOM] [I] Running transform 15 of 31: propagate_shapes",
        "Traceback (most recent call last):",
        f'  File "{PACKAGE}/llm/export.py", line 212, in build',
        "    graph = optimizer(graph, world_size=self.world_size)",
        f'  File "{PACKAGE}/transform/optimizer.py", line 88, in __call__',
        "    graph, info = transform(graph, shared)",
        f'  File "{PACKAGE}/transform/sharding.py", line 341, in _apply',
        "    out = fake_mode.propagate(node, *args)",
        f"RuntimeError: a and b must have same reduction dim, but got {dims}.",
        "",
        "While executing %mm_41 : [num_users=1] = call_function[target=torch.ops.aten.mm.default]",
        "[05/04/2026-10:31:08] [LOOM] [E] Executor worker initialization error, see the log above",
        "RuntimeError: Executor worker returned error",
    )


def _sharding() -> list[FailedJob]:
    rows = (
        (311097, "cover_phi-4_ws2", "microsoft/phi-4", "[s44*s70, 5120] X [2560, 5120]", 2105),
        (311113, "cover_phi-4-reasoning_ws2", "microsoft/Phi-4-reasoning",
         "[s44*s70, 5120] X [2560, 5120]", 566),
        (311130, "cover_phi-4-plus_ws4", "microsoft/Phi-4-reasoning-plus",
         "[s17*s31, 5120] X [1280, 5120]", 556),
        (311140, "cover_mellum-4b_ws2", "JetBrains/Mellum-4b-sft-all",
         "[s44*s70, 4128] X [2064, 4128]", 561),
    )  # fmt: skip
    return [
        job(
            id, workload, shard_trace(first, dims), first + 9, model,
            {"world_size": 4 if "ws4" in workload else 2, "runtime": "loom",
             "yaml_extra": ("dashboard_default.yaml", "world_size_2.yaml"),
             "attn_backend": "flashinfer"},
            exception="RuntimeError", frame="loom/transform/sharding.py:_apply",
            signature="RuntimeError|a and b must have same reduction dim|sharding.py:_apply",
            wrappers=lines(first + 13, "RuntimeError: Executor worker returned error"),
        )
        for id, workload, model, dims, first in rows
    ]  # fmt: skip


def _attention() -> list[FailedJob]:
    rows = ((311153, "cover_gemma-3-1b_ws1", 10246), (311162, "cover_gemma-3-4b_ws1", 9871))
    return [
        job(
            id, workload,
            lines(
                first,
                "[05/04/2026-10:40:11] [LOOM] [I] Running transform 22 of 31: insert_kvcache",
                "Traceback (most recent call last):",
                f'  File "{PACKAGE}/transform/kvcache.py", line 158, in _insert_metadata',
                "    meta = prepare_paged_metadata(position_ids, seq_len, input_pos, cache_loc)",
                "TypeError: prepare_paged_metadata() missing 1 required positional argument: "
                "'slot_idx'",
            ),
            first + 4, "google/gemma-3-1b-it", {"world_size": 1, "attn_backend": "triton_paged"},
            exception="TypeError", frame="loom/transform/kvcache.py:_insert_metadata",
        )
        for id, workload, first in rows
    ]  # fmt: skip


def _hub() -> list[FailedJob]:
    rows = (
        (311191, "cover_llama-4-scout_ws8", "meta-llama/Llama-4-Scout-17B"),
        (311199, "cover_gemma-3-27b_ws2", "google/gemma-3-27b-it"),
        (311201, "cover_mistral-large_ws8", "mistralai/Mistral-Large-2411"),
    )
    return [
        job(
            id, workload,
            lines(
                301,
                "    hf_raise_for_status(response)",
                '  File "/usr/local/lib/python3.12/dist-packages/huggingface_hub/utils/_http.py", '
                "line 426, in hf_raise_for_status",
                "    raise _format(GatedRepoError, message, response) from e",
                "huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-68)",
                f"Cannot access gated repo for url https://huggingface.co/{model}/resolve/main/"
                "config.json.",
                f"Access to model {model} is restricted and you are not in the authorized list.",
            ),
            304, model, {"world_size": 8}, exception="GatedRepoError",
        )
        for id, workload, model in rows
    ]  # fmt: skip


def _single() -> list[FailedJob]:
    oom = lines(
        4410,
        "0: nvidia-smi: 1 x H100 80GB, memory used before start: 71874 MiB",
        "0: pid 218733 is not part of this allocation (job 4871120, user svc-other)",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.",
    )
    wrapper = lines(77, "RuntimeError: Executor worker returned error")
    package = lines(
        880,
        "    import timm",
        "ModuleNotFoundError: No module named 'timm'",
    )
    return [
        job(311214, "cover_qwen3-32b_ws1", oom, 4412, "Qwen/Qwen3-32B", {"world_size": 1},
            exception="OutOfMemoryError"),
        job(311221, "cover_internvl3-8b_ws1", package, 881, "OpenGVLab/InternVL3-8B",
            exception="ModuleNotFoundError", allow_failure=True),
        job(311222, "cover_internvl3-8b_ws1", name="cover_internvl3-8b_ws1 [3 logs_after]",
            supplementary=True, weak_reason="belongs to its failed workload"),
        job(311235, "cover_nemotron-h-8b_ws2", wrapper, wrappers=wrapper,
            weak_reason="the trace shows only a wrapper"),
        job(311250, "cover_deepseek-v3_ws8", weak_reason="the trace answers 404"),
    ]  # fmt: skip


def buckets() -> tuple[Bucket, ...]:
    sharding = CodeReference(
        "loom/loom", "loom/transform/sharding.py", 341, "_apply",
        "https://github.com/loom/loom/blob/4be1d02/loom/transform/sharding.py#L341",
        "4be1d02c9a11", NAMED_BY_TRACE,
        (Change("c81d9a2f0b77", "[None][feat] Shard fused QKV along the reduction dim",
                "https://github.com/loom/loom/commit/c81d9a2f0b77"),),
    )  # fmt: skip
    kvcache = CodeReference(
        "loom/loom", "loom/transform/kvcache.py", 158, "_insert_metadata",
        "https://github.com/loom/loom/blob/main/loom/transform/kvcache.py#L158",
        "d00fbe31c2aa", DEFAULT_BRANCH,
    )  # fmt: skip
    return (
        Bucket(
            "loom/autodeploy-sharding/mm-reduction-dim-mismatch", ACTIONABLE,
            "one code path fails: loom/transform/sharding.py:_apply of loom", "loom",
            311097, (311097, 311113, 311130, 311140),
            "RuntimeError: a and b must have same reduction dim, but got "
            "[s44*s70, 5120] X [2560, 5120].",
            "RuntimeError|a and b must have same reduction dim|sharding.py:_apply",
            "Shape propagation after the sharding transform rejects aten.mm: one operand was "
            "sharded along its reduction dim, the other was not.",
            recurring=False, code=sharding,
        ),
        Bucket(
            "external/huggingface/access-forbidden", ISSUE_ONLY,
            "access to the repository is granted on the hub, no change in a verified repository "
            "can grant it",
            "external", 311191, (311191, 311199, 311201),
            "huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-68)",
            "GatedRepoError", recurring=True, rule="external/huggingface/access-forbidden",
            tracking="https://gitlab.example.com/loom/dashboard/-/issues/412",
            tracking_state=EXISTING,
        ),
        Bucket(
            "loom/autodeploy-attention/prepare-metadata-signature", ACTIONABLE,
            "one code path fails: loom/transform/kvcache.py:_insert_metadata of loom", "loom",
            311153, (311153, 311162),
            "TypeError: prepare_paged_metadata() missing 1 required positional argument: "
            "'slot_idx'",
            "TypeError|prepare_paged_metadata|kvcache.py:_insert_metadata",
            "The custom op gained slot_idx; the kvcache transform still calls it with four "
            "arguments.",
            recurring=False, code=kvcache,
        ),
        Bucket(
            "external/env/missing-python-package", ISSUE_ONLY,
            "an optional package is not in the image", "external",
            311221, (311221, 311222), "ModuleNotFoundError: No module named 'timm'",
            "ModuleNotFoundError|timm", recurring=True,
            tracking="https://gitlab.example.com/loom/dashboard/-/issues/431",
            tracking_state=FILED,
        ),
        Bucket(
            "infra/resource/oom", ISSUE_ONLY,
            "memory was taken by processes that are not of this job", "infra",
            311214, (311214,),
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.",
            "OutOfMemoryError", recurring=None, blocker=EXTERNAL_OR_INFRA,
        ),
        Bucket(
            "loom/executor/wrapper-only", ISSUE_ONLY,
            "evidence too weak: the trace shows only a wrapper; the owner is an assumption",
            "loom", 311235, (311235,), None, "weak|311235", recurring=False,
            blocker=WEAK_EVIDENCE, owner_assumed=True, evidence="weak",
        ),
        Bucket(
            "infra/runner/trace-missing", ISSUE_ONLY,
            "evidence too weak: the trace answers 404; the owner is an assumption", "infra",
            311250, (311250,), None, "weak|311250", recurring=False, blocker=WEAK_EVIDENCE,
            owner_assumed=True, evidence="weak",
        ),
    )  # fmt: skip


def usual() -> Report:
    """Fourteen failed jobs in seven buckets, a dead end and a trace that is not there."""
    found = buckets()
    of = {id: one for one in found for id in one.jobs}
    jobs = [*_sharding(), *_attention(), *_hub(), *_single()]
    return Report(
        config="loom@3",
        scope="model-coverage",
        starting_pipeline=5060,
        terminal_pipelines=(5127,),
        failed_jobs_total=len(jobs),
        buckets=found,
        jobs=tuple(
            replace(one, bucket=of[one.id].name, status=of[one.id].status, owner=of[one.id].owner)
            for one in jobs
        ),
        dead_end_bridges=(
            DeadEndBridge(
                772, "model-coverage: trigger arm", "infra/pipeline/no-downstream", ISSUE_ONLY,
                "no pipeline was triggered (script_failure)",
                f"{GITLAB}/lab/dispatch/-/jobs/772", 5087,
            ),
        ),
        unreadable=(Unreadable(311250, "the trace answers 404"),),
        pipelines=(
            pipeline(5060, "loom/dashboard"),
            pipeline(5087, "lab/dispatch", 5060, 640, "model-coverage"),
            pipeline(5127, "lab/runs", 5087, 771, "model-coverage: trigger x86"),
        ),
        generated_at="2026-05-04T11:02:09Z",
        previous_pipeline=5044,
        tracked=True,
        remarks=(Remark(HISTORY_UNREADABLE, "GitHub answers 403 to commits of loom/loom", 1),),
    )  # fmt: skip


def empty() -> Report:
    """A pipeline without a failed job."""
    return replace(
        usual(), failed_jobs_total=0, buckets=(), jobs=(), dead_end_bridges=(), unreadable=(),
        remarks=(), terminal_pipelines=(5060,), previous_pipeline=None, tracked=False,
    )  # fmt: skip


def big(jobs: int = 500, buckets: int = 60) -> Report:
    """Many jobs in many buckets, sized like a long tail."""
    shares = [max(1, (buckets - index) ** 2 // 4) for index in range(buckets)]
    sizes = [max(1, share * jobs // sum(shares)) for share in shares]
    sizes[0] += jobs - sum(sizes)
    found, all_jobs, at = [], [], 400_000
    for index, size in enumerate(sizes):
        trace = shard_trace(1000 + index, f"[s{index}, 5120] X [{index}, 5120]")
        name = f"loom/component-{index % 9}/failure-mode-number-{index}"
        status = ACTIONABLE if index % 3 else ISSUE_ONLY
        ids = tuple(range(at, at + size))
        all_jobs += [
            job(
                id, f"cover_model-{id}_ws2", trace, 1009 + index, f"org/model-{id}",
                exception="RuntimeError", bucket=name, status=status, owner="loom",
            )
            for id in ids
        ]  # fmt: skip
        found.append(
            Bucket(
                name, status, f"one code path fails: module_{index}.py:run of loom", "loom",
                at, ids, trace[9].text, f"RuntimeError|{index}",
                f"Shape propagation rejects case {index}.", recurring=bool(index % 2),
            )
        )  # fmt: skip
        at += size
    return replace(
        usual(), failed_jobs_total=len(all_jobs), buckets=tuple(found), jobs=tuple(all_jobs)
    )
