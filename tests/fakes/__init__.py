"""Stateful fake services on loopback, kept honest by the services' own contracts.

`FakeGitHub`, `FakeGitLab` and `FakeJira` speak HTTP, validate every request and
every reply of their own, and fail a test that broke a contract. See README.md.
Nothing here needs pytest: `make demo` and a command line use the same servers.
"""
