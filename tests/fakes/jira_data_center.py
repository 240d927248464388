"""The contract of Jira Data Center's REST v2, by hand: there is no published slice of it here.

Documented at https://developer.atlassian.com/server/jira/platform/rest/v10000/:
the same resources as the Cloud's v3, and people are named by `name` and `key`
instead of `accountId`. A comment's body is wiki markup in a string; anything
else answers 400, which the route of the comments sees to.
"""

from __future__ import annotations

import copy
import functools

from fakes.contract import Contract, document


@functools.cache
def contract() -> Contract:
    """The Cloud's slice with the paths and the people of Data Center."""
    spoken = copy.deepcopy(document("jira"))
    spoken["paths"] = {
        path.replace("/rest/api/3/", "/rest/api/2/"): methods
        for path, methods in spoken["paths"].items()
    }
    schemas = spoken["components"]["schemas"]
    for person in ("User", "UserDetails"):
        for cloud_only in ("accountId", "accountType"):
            schemas[person]["properties"].pop(cloud_only, None)
    return Contract(spoken)
