"""The traces of failed jobs, several at once, from the wire straight into the reader.

A trace is never held: every chunk is read as it comes, and written to a folder where one was asked
for. A broken download goes on where it broke (`Client.download`). Reading is what costs time: the
traces of one pipeline are alike, so their readers share what they learn about dull lines.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, BinaryIO, Final

from ciops.errors import CiopsError, PartialError
from ciops.failures.buckets import JobEvidence
from ciops.failures.chain import ChainJob
from ciops.failures.knowledge import Knowledge
from ciops.failures.masking import masked
from ciops.failures.redaction import mask_secrets
from ciops.failures.scan_result import WEAK, ScanResult
from ciops.failures.sieve import Sieve
from ciops.failures.trace import TraceReader
from ciops.plumbing.http import HttpError, RateLimitedError, UnavailableError
from ciops.plumbing.output_folder import OutputFolder, safe_name

if TYPE_CHECKING:
    from ciops.forges.base import Pipelines

CONCURRENCY: Final = 8
NOT_READ: Final = "not read"
_HEAD: Final = 256
_PAGE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<!doctype html|<html[\s>])", re.IGNORECASE)
EMPTY: Final = "empty: the trace holds no bytes"
# When this many traces in a row fail because the service does not answer, the rest is not asked
# for: every one of them would wait through its retries.
GIVE_UP_AFTER: Final = 24


class Downloads:
    """Reads traces in threads that end with the program; iterate `results`."""

    def __init__(
        self,
        pipelines: Pipelines,
        knowledge: Knowledge,
        *,
        concurrency: int = CONCURRENCY,
        keep: OutputFolder | None = None,
    ) -> None:
        self._pipelines = pipelines
        self._knowledge = knowledge
        self._concurrency = concurrency
        self._keep = keep
        self._sieve = Sieve(knowledge.words)
        self._waiting: SimpleQueue[ChainJob] = SimpleQueue()
        self._done: SimpleQueue[JobEvidence] = SimpleQueue()
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._in_vain = 0

    def results(self, jobs: Sequence[ChainJob]) -> Iterator[JobEvidence]:
        """The evidence of every job, in the order in which their traces end.

        Closing the iterator stops the threads at their next chunk.
        """
        for job in jobs:
            self._waiting.put(job)
        for number in range(min(self._concurrency, len(jobs))):
            threading.Thread(target=self._work, name=f"trace {number}", daemon=True).start()
        try:
            for _ in jobs:
                yield self._done.get()
        finally:
            self._stopping.set()

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                job = self._waiting.get_nowait()
            except Empty:
                return
            self._done.put(self._evidence(job))

    def _evidence(self, one: ChainJob) -> JobEvidence:
        if self._in_vain >= GIVE_UP_AFTER:
            return unread(one, f"{NOT_READ}: the service had stopped answering")
        try:
            scan = self._scan(one)
        except HttpError as error:
            self._count(failed=isinstance(error, UnavailableError | RateLimitedError))
            status = f"HTTP {error.status}" if error.status else "no answer"
            return unread(one, f"{status}: {error.problem}")
        except CiopsError as error:
            return unread(one, f"{NOT_READ}: {error.problem}")
        except Exception as error:  # one strange trace must not cost the report of all others
            return unread(one, f"{NOT_READ}: a bug of this tool: {_where(error)}")
        self._count(failed=False)
        return evidence_of(one, scan, "" if scan.size else EMPTY)

    def _count(self, *, failed: bool) -> None:
        with self._lock:
            self._in_vain = self._in_vain + 1 if failed else 0

    def _scan(self, one: ChainJob) -> ScanResult:
        reader = TraceReader(self._knowledge, self._sieve.beside())
        with ExitStack() as stack:
            download = stack.enter_context(self._pipelines.trace(one.project, one.job.id))
            copy = self._copy(one, stack)
            head = b""
            for chunk in download:
                if self._stopping.is_set():
                    raise PartialError("the run was stopped")
                if len(head) < _HEAD:
                    head += chunk[:_HEAD]
                    _refuse_page(head)
                reader.feed(chunk)
                if copy is not None:
                    copy.write(chunk)
        return reader.finish()

    def _copy(self, one: ChainJob, stack: ExitStack) -> BinaryIO | None:
        if self._keep is None:
            return None
        return stack.enter_context(self._keep.stream(kept_name(one)))


def _refuse_page(head: bytes) -> None:
    """PartialError for a page of HTML, with which a proxy or a sign-in answers."""
    if _PAGE.match(head):
        problem = "the answer is a page of HTML, such as a sign-in, and no trace"
        raise PartialError(problem, "Check the token, and what stands before the server")


def _where(error: Exception) -> str:
    """The kind of an error and the line that raised it; its text may hold anything."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"


def kept_name(one: ChainJob) -> str:
    """The file name of a kept trace: the job's id makes it unique."""
    return f"{one.job.id}-{safe_name(mask_secrets(one.job.name)) or 'job'}.log"


def evidence_of(one: ChainJob, scan: ScanResult, unreadable: str = "") -> JobEvidence:
    """A job with what its trace shows."""
    job = one.job
    found = JobEvidence(job.id, job.name, scan, unreadable, job.failure_reason, one.step.id)
    return masked(found)


def unread(one: ChainJob, reason: str) -> JobEvidence:
    """A job without a trace: weak evidence, and why."""
    scan = ScanResult(evidence=WEAK, signature="no trace", reason="the trace cannot be read")
    return evidence_of(one, scan, reason)
