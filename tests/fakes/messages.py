"""What passes between the wire, the server and the routes of a service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.contract import JSON, Operation
from fakes.wire import Incoming

JSON_TYPE = f"{JSON}; charset=utf-8"


@dataclass(slots=True)
class Recorded:
    """A request as it came. `body` is parsed JSON, or None; `operation` is `GET /the/{path}`."""

    number: int
    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: Any
    operation: str = ""
    status: int = 0


@dataclass(frozen=True, slots=True)
class Write:
    """A request that changed the state."""

    method: str
    path: str
    body: Any
    operation: str


@dataclass(slots=True)
class Reply:
    """An answer before it is checked and sent.

    `body` is JSON data, or a `Content` when `content_type` is not JSON.
    `changed` says whether the state is another one now; None: any write that succeeds is.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = JSON_TYPE
    changed: bool | None = None
    span: tuple[int, int] | None = None
    chunked: bool = False
    paced: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """Who a token belongs to, and what it may do.

    `permissions` maps a subject to "read" or "write", None allows everything;
    `repositories` limits it to those (lower case), None does not.
    """

    login: str
    permissions: Mapping[str, str] | None = None
    repositories: frozenset[str] | None = None
    association: str = "NONE"
    scopes: frozenset[str] = frozenset({"api"})
    access_level: int = 40
    rejected: bool = False

    @property
    def is_app(self) -> bool:
        """An installation, such as Actions' own token, is no user."""
        return self.login.endswith("[bot]")


class Watched(dict[str, Any]):
    """Keys and values that know what was read: a key nobody acts on must not pass in silence."""

    def __init__(self, data: Mapping[str, Any], given: Iterable[str]) -> None:
        super().__init__(data)
        self.unread = set(given)

    def __getitem__(self, key: str) -> Any:
        self.unread.discard(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.unread.discard(key)
        return super().get(key, default)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a route works on. `query` and `path` are typed; the account is None if anonymous.

    `request.path` is the contract's path, `came_as` the one that the client used.
    """

    operation: Operation
    path: dict[str, Any]
    query: Watched
    body: Any
    account: Account | None
    request: Incoming
    came_as: str

    @property
    def raw_path(self) -> str:
        """The path as it came, percent-encoded."""
        return self.request.path

    @property
    def raw_query(self) -> str:
        return self.request.query

    @property
    def ignored(self) -> set[str]:
        """Query and body keys that the route did not look at."""
        unread = set(self.query.unread)
        return unread | self.body.unread if isinstance(self.body, Watched) else unread


Route = Callable[[Any, Asked], Reply]
