"""Forges the tools can talk to."""
