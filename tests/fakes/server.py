"""What the fakes share: recording, contract checks, faults, and a clean end.

A subclass says who may do what (`authenticate`), how its errors look (`error`)
and which function answers which operation of the contract (`routes`).
"""

from __future__ import annotations

import email.utils
import json
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl

from fakes.contract import JSON, Broken, Call, Contract
from fakes.faults import SECONDARY, Fault, spoil
from fakes.messages import Account, Asked, Recorded, Reply, Route, Watched, Write
from fakes.streams import Content
from fakes.wire import NO_BODY, Delivery, Incoming, Listener

NO_RETRY = 501  # a fault of the fake: no client should wait and try again


class ContractViolationError(AssertionError):
    """A request or a reply broke the contract while the fake was in use."""


class FakeServer:
    """A stateful service on loopback; a context manager that fails on a broken contract."""

    service: ClassVar[str] = "service"
    routes: Mapping[str, Route]
    base_path = ""

    def __init__(
        self,
        contract: Contract,
        *,
        port: int = 0,
        keep_requests: bool = True,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.contract = contract
        self.now = now
        self.keep_requests = keep_requests
        self.requests: list[Recorded] = []
        self.writes: list[Write] = []
        self.request_count = 0
        self.calls: Counter[str] = Counter()
        self.violations: list[str] = []
        self.seen_tokens: set[str] = set()
        self.seen_schemes: set[str] = set()
        self.lock = threading.RLock()
        self.faults: list[Fault] = []
        self.listener = Listener(self._answer, port=port, name=f"fake {self.service}")
        self.url = self.listener.origin + self.base_path

    # What a test or a demo asks of it

    def fail(self, how: str | int, **plan: Any) -> Fault:
        """Plans a fault; `faults.Fault` lists the options (at, times, method, path, …)."""
        fault = Fault(str(how), **plan)
        with self.lock:
            self.faults.append(fault)
        return fault

    def kill_after(self, k: int, callback: Callable[[], object], **plan: Any) -> Fault:
        """Calls `callback` when the k-th request was applied and its reply is not yet sent.

        `writes=True` counts only requests that are no GET.
        """
        return self.fail("call", at=k, callback=callback, **plan)

    def take_violations(self) -> list[str]:
        """The violations so far, which then no longer fail the test: for those it expects."""
        with self.lock:
            taken, self.violations = self.violations, []
        return taken

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()
        if not self.violations:
            return
        report = f"the {self.service} contract was broken:\n" + "\n".join(self.violations)
        if error is None:
            raise ContractViolationError(report)
        error.add_note(report)

    def start(self) -> None:
        self.listener.start()

    def close(self) -> None:
        self.listener.close()
        for fault in self.listener.faults:
            report = "".join(traceback.format_exception(fault))
            self.violations.append(f"the fake itself failed: {report}")

    # What a service says of itself

    def authenticate(self, request: Incoming) -> Account | Reply | None:
        """The account of a request, None when anonymous, or the refusal."""
        raise NotImplementedError

    def allow(self, asked: Asked) -> Reply | None:
        """A refusal for lack of a permission, or None."""
        return None

    def limit(self, request: Incoming, account: Account | None) -> Reply | None:
        """A refusal because of a rate limit, or None."""
        return None

    def error(self, status: int, message: str, **headers: str) -> Reply:
        """An error of this service's shape."""
        raise NotImplementedError

    def secondary_limit(self, headers: dict[str, str]) -> Reply:
        """The refusal of a client that writes too fast."""
        return self.too_many(headers)

    def too_many(self, headers: dict[str, str]) -> Reply:
        return self.error(429, "Too many requests", **headers)

    def finish(self, request: Incoming, reply: Reply) -> None:
        """Adds the headers that every answer of the service carries."""

    def internal_path(self, path: str) -> str:
        """The contract's path for one that the service also answers."""
        return path

    # From a request to what goes on the wire

    def _answer(self, incoming: Incoming) -> Delivery:
        with self.lock:
            request, recorded = self._record(incoming)
            fault = self._next_fault(request)
            if fault is not None and fault.before:
                return self._struck(request, recorded, fault)
            reply = self._reply_or_fault(request, recorded)
            delivery = self._delivery(request, recorded, reply)
        return spoil(delivery, fault) if fault is not None else delivery

    def _record(self, incoming: Incoming) -> tuple[Incoming, Recorded]:
        self.request_count += 1
        path = incoming.path.removeprefix(self.base_path)
        request = Incoming(
            incoming.method,
            self.internal_path(path),
            incoming.query,
            incoming.headers,
            incoming.body,
        )
        recorded = Recorded(
            number=self.request_count,
            method=incoming.method,
            path=path,
            query=_query_of(incoming.query),
            headers=incoming.headers,
            body=_json_of(incoming.body),
        )
        if self.keep_requests:
            self.requests.append(recorded)
        if not incoming.path.startswith(self.base_path):
            self._violate(f"{incoming.method} {incoming.path} is not under {self.base_path}")
        return request, recorded

    def _next_fault(self, request: Incoming) -> Fault | None:
        struck = [fault for fault in self.faults if fault.strikes(request.method, request.path)]
        return struck[0] if struck else None

    def _struck(self, request: Incoming, recorded: Recorded, fault: Fault) -> Delivery:
        if fault.how == "reset":
            return Delivery(0, ending="reset")
        if fault.how == SECONDARY:
            reply = self.secondary_limit(fault.answer_headers)
        elif fault.how == "429":
            reply = self.too_many(fault.answer_headers)
        else:
            reply = self.error(int(fault.how), "a planned fault", **fault.answer_headers)
        return self._delivery(request, recorded, reply)

    def _reply_or_fault(self, request: Incoming, recorded: Recorded) -> Reply:
        try:
            return self._reply(request, recorded)
        except Exception:
            self._violate(f"the fake itself failed: {traceback.format_exc()}")
            return self.error(NO_RETRY, "the fake itself failed")

    def _reply(self, request: Incoming, recorded: Recorded) -> Reply:
        account = self.authenticate(request)
        call = self.contract.request(request.method, request.path, request.query, request.body)
        if isinstance(call, Broken):
            self._violate(f"request {recorded.number}: {call.rule}")
            return self.error(call.status, f"contract: {call.rule}")
        recorded.operation = call.operation.name
        self.calls[recorded.operation] += 1
        if isinstance(account, Reply):
            return account
        limited = self.limit(request, account)
        if limited is not None:
            return limited
        asked = _asked(call, account, request, recorded)
        reply = self.allow(asked) or self.routes[recorded.operation](self, asked)
        if reply.status < 300 and asked.ignored and reply.body != []:  # nothing met every filter
            self._violate(f"{recorded.operation}: the fake does not act on {asked.ignored}")
        self._note_write(recorded, reply)
        return self._checked(call, reply)

    def _note_write(self, recorded: Recorded, reply: Reply) -> None:
        done = recorded.method != "GET" and reply.status < 300
        if done and reply.changed is not False:
            write = Write(recorded.method, recorded.path, recorded.body, recorded.operation)
            self.writes.append(write)

    def _checked(self, call: Call, reply: Reply) -> Reply:
        headers = {**reply.headers, "Content-Type": reply.content_type}
        is_json = reply.content_type.startswith(JSON)
        body = reply.body if is_json else ""  # text bodies may be streams; any text is text
        problem = self.contract.reply_problem(call.operation, reply.status, headers, body)
        if problem is None:
            return reply
        rule = f"the fake's own reply to {call.operation.name}, {reply.status}: {problem}"
        self._violate(rule)
        return self.error(NO_RETRY, f"contract: {rule}")

    def _delivery(self, request: Incoming, recorded: Recorded, reply: Reply) -> Delivery:
        self.finish(request, reply)
        recorded.status = reply.status
        content: Content = b""
        if reply.body is not None and reply.status not in NO_BODY:
            is_json = reply.content_type.startswith(JSON)
            content = json.dumps(reply.body) if is_json else reply.body
            reply.headers.setdefault("Content-Type", reply.content_type)
        reply.headers.setdefault("Date", email.utils.formatdate(self.now(), usegmt=True))
        return Delivery(
            status=reply.status,
            headers=reply.headers,
            content=content,
            span=reply.span,
            chunked=reply.chunked,
            paced=reply.paced,
        )

    def _violate(self, rule: str) -> None:
        self.violations.append(rule)


def _asked(call: Call, account: Account | None, request: Incoming, recorded: Recorded) -> Asked:
    body = Watched(call.body, call.body) if isinstance(call.body, dict) else call.body
    query = Watched(call.query, recorded.query)
    return Asked(call.operation, call.path, query, body, account, request, recorded.path)


def _query_of(text: str) -> dict[str, str]:
    """Query keys and values; the values of a repeated key are joined by commas."""
    found: dict[str, str] = {}
    for key, value in parse_qsl(text, keep_blank_values=True):
        found[key] = f"{found[key]},{value}" if key in found else value
    return found


def _json_of(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode("utf-8", "replace")
