"""What somebody could run or follow, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ciops.triage.code_reading import touching_line
from triage.issue_making import facets, fence, said

TITLE = "DDP loses the last bucket"
TOUCHES = frozenset({"torch", "dist", ".backward"})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(fence("import torch\nx = torch.ones(2)\nx.sum()", "python"), id="a script"),
        pytest.param(
            fence("t = torch.rand(5, 10)\ndist.all_reduce(t)"), id="the template, put to use"
        ),
        pytest.param(fence("m = DDP(net)\nm(x).sum().backward()"), id="a fragment"),
        pytest.param(
            fence("model = helper.wrap(net)\ndist.all_reduce(acc)"), id="with a helper of theirs"
        ),
        pytest.param(fence(">>> import torch\n>>> torch.ones(2)"), id="a prompt"),
        pytest.param(fence("...\ndist.barrier()\n...", "py"), id="with ellipses"),
        pytest.param(fence("def run(rank):\n    dist.barrier()\nmp.spawn(run)"), id="a function"),
        pytest.param(
            fence("dist.barrier(\nthis is broken\ndist.barrier()"),
            id="with a line that does not parse",
        ),
        pytest.param("import torch\nx = torch.ones(2)\nprint(x)", id="nobody fenced it"),
        pytest.param("    import torch\n    x = torch.ones(2)\n    x.sum()", id="indented"),
        pytest.param(
            fence("x = torch.ones(2).to(self.rank)\nself.assertEqual(x.sum(), 2)"),
            id="the body of a test",
        ),
        pytest.param(fence('$ python -c "import torch; torch.ones(2)"'), id="a one-liner"),
        pytest.param(
            "`python test/distributed/test_c10d_nccl.py -k test_barrier` fails",
            id="an upstream test",
        ),
        pytest.param("test_ddp (__main__.TestDDP) fails", id="a test by name"),
        pytest.param("Script: https://gist.github.com/me/0123456789abcdef", id="a gist"),
        pytest.param(
            "https://github.com/me/repro/blob/main/run.py shows it", id="a file elsewhere"
        ),
        pytest.param(
            "[repro.py](https://github.com/user-attachments/files/1/repro.py)", id="an attachment"
        ),
        pytest.param("1. start two ranks with `torchrun`\n2. kill rank 1\n3. wait", id="steps"),
        pytest.param("- run `a.py` on 2 GPUs\n- restart the second node", id="steps as bullets"),
        pytest.param(
            "Steps: create the tensor, send it from rank 0, compare on rank 1.",
            id="steps in a sentence",
        ),
        pytest.param(
            "`dist.barrier(group=g)` on two ranks reproduces it.", id="one call that is enough"
        ),
        pytest.param("`import torch; torch.ones(2).sum()` is all.", id="a program in a code span"),
        pytest.param(
            "`dist.all_reduce(torch.ones(3))` raises on gloo.", id="a call that builds its input"
        ),
        pytest.param(
            '`dist.init_process_group("nccl")`, `dist.barrier([0])`, `dist.all_reduce(x)`.',
            id="a program told in code spans",
        ),
        pytest.param(
            fence("#!/bin/bash\n#SBATCH --nodes=2\nsrun torchrun train.py", "bash"),
            id="a job script",
        ),
        pytest.param(
            ">>> import torch.distributed as dist\n>>> dist.barrier()\nRuntimeError: no group",
            id="a prompt that nobody fenced",
        ),
        pytest.param(
            fence("1  import torch\n2  import torch.distributed as dist\n3\n4  dist.barrier()"),
            id="a listing with its numbers",
        ),
        pytest.param(
            fence("from torch.distributions import *\nkl(Uniform(0, 1), Beta(1, 1))"),
            id="names of a star import",
        ),
        pytest.param(
            fence(
                "--- a/train.py\n+++ b/train.py\n@@ -1,2 +1,3 @@\n m = DDP(net)\n+m(x).backward()",
                "diff",
            ),
            id="a diff of one's own script",
        ),
        pytest.param(
            fence(
                "diff --git a/test/distributed/test_store.py b/test/distributed/test_store.py\n"
                "@@ -1,2 +1,3 @@\n+    store.get(1)"
            ),
            id="a diff of an upstream test",
        ),
        pytest.param(
            fence(
                "#include <torch/csrc/distributed/c10d/TCPStore.hpp>\nint main() {\n"
                "  c10d::TCPStoreOptions o;\n}"
            ),
            id="a program in C++",
        ),
        pytest.param(
            "From a user:\n\n> ```py\n> import torch.distributed as dist\n> dist.barrier()\n> ```",
            id="code of a user, passed on",
        ),
        pytest.param(
            "From a user:\n\n> import torch.distributed as dist\n> x = torch.ones(2)\n"
            "> dist.barrier()",
            id="unfenced code of a user, passed on",
        ),
        pytest.param(
            "All there is (repro + stack traces): https://gist.github.com/me/0123456789abcdef",
            id="a gist of both",
        ),
        pytest.param(
            "Take https://pytorch.org/tutorials/intermediate/ddp_tutorial.html with 3 ranks.",
            id="a tutorial to follow",
        ),
        pytest.param("`pytest -x test_store.py::TestStore::test_get` fails", id="a test's id"),
        pytest.param(
            fence('$ python -c "import torch.distributed.fsdp"'), id="an import that fails"
        ),
        pytest.param(fence("print(torch.__version__)\ndist.barrier()"), id="a version, and a call"),
    ],
)
def test_there_is_a_reproduction(body):
    assert facets(TITLE, body).has_reproduction


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("It fails.", id="words"),
        pytest.param(
            fence('Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x'),
            id="a traceback",
        ),
        pytest.param(fence("[Rank 1] Watchdog caught collective operation timeout"), id="a log"),
        pytest.param(
            fence("PyTorch version: 2.9\nIs debug build: False\nOS: Linux"), id="collect_env"
        ),
        pytest.param(
            fence("fsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD", "yaml"),
            id="a configuration",
        ),
        pytest.param(
            fence("import torch\nt = torch.rand(5, 10)\nt.sum()", "python"),
            id="the untouched template",
        ),
        pytest.param(
            fence(
                "t = torch.rand(5, 10)  # no personal data\nt.requires_grad_(True)\nt.sum().item()"
            ),
            id="the template, a line more",
        ),
        pytest.param(fence("import torch\nfrom torch.distributed import rpc"), id="imports alone"),
        pytest.param(
            fence("def f(self, x):\n    self.reducer.prepare()\n    return torch.ones(2)"),
            id="an excerpt",
        ),
        pytest.param("![shot](https://github.com/user-attachments/assets/1)", id="a screenshot"),
        pytest.param(
            "[log.txt](https://github.com/user-attachments/files/1/log.txt)", id="a log file"
        ),
        pytest.param(
            "https://github.com/pytorch/pytorch/blob/main/torch/x.py#L3 looks wrong",
            id="a permalink",
        ),
        pytest.param(
            "https://github.com/pytorch/pytorch/issues/123 is similar", id="another issue"
        ),
        pytest.param("1. LSE in bf16\n2. a wrong seq dim\n3. dropout", id="a list of guesses"),
        pytest.param(
            "`DTensor.redistribute(placements=[Shard(0)])` needs twice the memory.",
            id="a call that is named",
        ),
        pytest.param(
            "The rest goes through `fully_shard(..., mesh=a)`, then `fully_shard(ffn, ...)`.",
            id="calls with something left out",
        ),
        pytest.param("`dist.broadcast(x, src=f(x))` raises.", id="a call on what is not shown"),
        pytest.param('`dist.init_process_group("nccl")` hangs.', id="a call that everybody makes"),
        pytest.param("`torchrun --nproc-per-node 8 train.py`", id="a command without its script"),
        pytest.param("Script: I cannot share it.", id="a script that is not there"),
        pytest.param(
            fence("python -m torch.utils.collect_env", "bash"), id="how the dump was made"
        ),
        pytest.param(
            fence('$ python -c "import torch; print(torch.__version__)"\n2.9.0'), id="a version"
        ),
        pytest.param(
            fence("import torch\nprint(torch.__version__)\nprint(torch.cuda.nccl.version())"),
            id="versions",
        ),
        pytest.param(
            fence(
                "DistributedDataParallel(\n  (module): Sequential(\n    (0): Linear(in=4)\n  )\n)"
            ),
            id="a model that was printed",
        ),
        pytest.param(
            fence(
                "--- a/torch/distributed/utils.py\n+++ b/torch/distributed/utils.py\n"
                "@@ -1,2 +1,2 @@\n-dist.broadcast(t, 0)\n+dist.broadcast(t, src)",
                "diff",
            ),
            id="a mended product",
        ),
        pytest.param(
            fence(
                "void ProcessGroupNCCL::abort() {\n  for (auto& c : comms_) c->abort();\n}", "cpp"
            ),
            id="an excerpt in C++",
        ),
        pytest.param(
            "Logs of all ranks: https://gist.github.com/me/0123456789abcdef", id="a gist of logs"
        ),
        pytest.param(
            "https://pytorch.org/tutorials/intermediate/ddp_tutorial.html says so.",
            id="a tutorial that is named",
        ),
        pytest.param("`pytest tests/trainer/test_resume.py` fails.", id="a test of one's own"),
        pytest.param(
            "They say:\n\n> the sum is wrong on rank 1\n> dist.barrier() hangs too", id="a quote"
        ),
    ],
)
def test_there_is_none(body):
    assert not facets(TITLE, body).has_reproduction


def test_what_a_reply_quotes_is_no_code_of_the_reply():
    quoted = "> ```py\n> dist.barrier()\n> dist.all_reduce(t)\n> ```\n\nDoes it?"
    assert not facets(TITLE, "It fails.", said(quoted)).has_reproduction


def test_one_that_came_later_counts():
    script = fence("import torch.distributed as dist\ndist.barrier()", "python")
    assert facets(TITLE, "It fails.", said(script, login="reporter")).has_reproduction


def test_a_maintainer_who_can_reproduce_it_needs_none():
    assert facets(TITLE, "It fails.", said("I can reproduce this.", "MEMBER")).has_reproduction
    assert not facets(TITLE, "It fails.", said("I can reproduce this.")).has_reproduction


def test_a_request_with_a_sketch_has_none():
    sketch = "1. run `new_group([0, 1])` in a thread\n2. set the seed\n"
    form = "### 🚀 The feature, motivation and pitch\n"
    assert not facets("[FSDP] support threads", form + sketch).has_reproduction


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import torch\n\ntorch.ones(2)", 3),
        ("x = 1", None),
        ("loss.backward()", 1),
        ("class A:\n    def f(self):\n        return torch.ones(2)", 3),
        ("from torch import nn\nnn.Linear(2, 2)", 2),
        ("(((((", None),
        ("", None),
        ("x = '\\d'\ntorch.ones(1)", 2),
    ],
)
def test_the_line_that_touches_the_product(code, line):
    assert touching_line(code, TOUCHES, ()) == line


LAUNCH = "`torchrun --nproc-per-node=gpu hello.py`"
LAUNCHER = fence(
    'Traceback (most recent call last):\n  File "/v/torch/distributed/run.py", line 694, in '
    'determine_local_world_size\n    raise ValueError("Cuda is not available.")\n'
    "ValueError: Cuda is not available."
)


@pytest.mark.parametrize(
    ("title", "body", "present"),
    [
        pytest.param("torchrun fails at once", LAUNCH + LAUNCHER, True, id="the launcher fails"),
        pytest.param("DDP fails", "`torchrun --nproc-per-node=2 train.py`", False, id="their own"),
        pytest.param(
            "torchrun: rendezvous fails", "`torchrun --nnodes 2 --rdzv-id x a.py`", False,
            id="one of several hosts",
        ),
        pytest.param(
            "torchrun gives rank 1 to node 0",
            fence("torchrun --nnodes=2 --node_rank=0 a.py\ntorchrun --nnodes=2 --node_rank=1 a.py"),
            True,
            id="each of several hosts",
        ),
    ],
)  # fmt: skip
def test_a_launch_shows_what_fails_before_the_launched_begins(title, body, present):
    assert facets(title, body).has_reproduction is present


@pytest.mark.parametrize(
    ("code", "there"),
    [
        ("import torch.distributed as dist\nx = dist.load(d)\nassert 'a' in x", True),
        ("import torch.distributed as dist\ndist.load(d)  # raises KeyError", True),
        ("import torch.distributed as dist\ndist.load(d, lazily=True)", False),
        ("x = dist.load(d)\nassert 'a' in x", False),
    ],
    ids=["it checks", "it says", "it only calls", "it imports nothing"],
)
def test_in_a_request_a_program_that_shows_what_is_missing_counts(code, there):
    form = "### 🚀 The feature, motivation and pitch\n\nObjects made lazily are not supported.\n"
    assert facets("[DCP] lazy objects", form + fence(code)).has_reproduction is there


def test_a_wish_in_code_shows_nothing():
    sketch = fence("x = dist.all_gather_ragged(t)   # wanted", "python")
    assert not facets("[Feature] ragged all_gather", sketch).has_reproduction


SHOWN = Path(__file__).resolve().parents[1] / "data" / "triage" / "shown.yml"


@pytest.mark.parametrize(
    "report", yaml.safe_load(SHOWN.read_text(encoding="utf-8")), ids=lambda report: report["id"]
)
def test_what_shows_the_failure_and_what_only_looks_like_it(report):
    comment = report.get("comment")
    comments = [said(comment["text"], comment["as"], "other")] if comment else []
    body = f"{report['body']}\n\nIt raises.\n"
    found = facets("DDP and FSDP: a collective raises", body, *comments)
    assert found.has_reproduction is report["shown"]


def test_a_script_whose_content_is_given_beside_its_launch():
    launch = fence("torchrun --nnodes=2:2 --rdzv-endpoint=a:29400 echo.py", "sh")
    content = 'echo.py is `import os; print(os.environ["RANK"])`.'
    assert facets("c10d rendezvous times out", f"{launch}\n\n{content}").has_reproduction
    assert not facets("c10d rendezvous times out", f"{launch}\n\necho.py is ours.").has_reproduction


@pytest.mark.parametrize(
    ("words", "role", "present"),
    [
        (
            "A few ideas:\n- install `ninja`\n- run `cmake --version`, take a newer one",
            "MEMBER",
            False,
        ),
        ("This reproduces it:\n1. install `ninja`\n2. run `pytest test_x.py`", "MEMBER", True),
        ("1. install `ninja`\n2. run `python setup.py develop`", "NONE", True),
    ],
)
def test_what_a_maintainer_lists_to_be_tried_is_no_reproduction(words, role, present):
    login = "m" if role == "MEMBER" else "reporter"
    assert facets(TITLE, "It fails.", said(words, role, login)).has_reproduction is present
