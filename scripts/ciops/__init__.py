"""The importable package behind the entry scripts in `scripts/`."""
