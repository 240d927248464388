"""A small queue of the policy that the suite ships: one issue of a kind, and the labels."""

from __future__ import annotations

from typing import Any

QUEUE = "oncall: distributed"
ROUTE = "oncall: distributed parallelisms"
MODULES = """\
fsdp, ddp, dtensor, c10d, DeviceMesh, pipelining, rpc, nccl, elastic, data parallel, symm_mem,
context parallel, activation checkpointing, mpi, threaded pg, distributed_tool, performance"""
LABELS = [
    QUEUE,
    "triage review",
    "needs reproduction",
    "feature",
    "enhancement",
    "bot-triaged",
    "triaged",
    "oncall: distributed checkpointing",
    "oncall: distributed infra",
    ROUTE,
    *(f"module: {name.strip()}" for name in MODULES.split(",")),
]
FILE = "/opt/torch/distributed/fsdp/fully_sharded_data_parallel.py"
BODY = f"""\
Wrapping a model with FSDP on two ranks fails as soon as gradients are clipped.

```python
import torch, torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
model = FSDP(torch.nn.Linear(8, 8).cuda())
model(torch.ones(2, 8, device="cuda")).sum().backward()
model.clip_grad_norm_(1.0)
```

`torchrun --nproc-per-node 2 clip.py`

```
[rank0]: Traceback (most recent call last):
[rank0]:   File "clip.py", line 7, in <module>
[rank0]:     model.clip_grad_norm_(1.0)
[rank0]:   File "{FILE}", line 1119, in clip_grad_norm_
[rank0]:     total_norm = _get_grad_norm(sharded_params, norm_type)
[rank0]:   File "{FILE}", line 2050, in _get_grad_norm
[rank0]:     raise AssertionError("Requires uniform dtype across all gradients")
[rank0]: AssertionError: Requires uniform dtype across all gradients
```
"""
TITLE = "FSDP clip_grad_norm_ raises AssertionError on two ranks"


def github_issue(number: int = 7) -> dict[str, Any]:
    return {"number": number, "title": TITLE, "body": BODY, "labels": [QUEUE]}


def gitlab_project(issues: int = 1) -> dict[str, Any]:
    """A project for the fake GitLab: `issues` issues that are numbered from 1."""
    listed = [
        {"iid": iid, "title": TITLE, "description": BODY, "labels": [QUEUE]}
        for iid in range(1, issues + 1)
    ]
    return {"id": 3, "path": "group/project", "issues": listed, "labels": LABELS}
