#!/bin/sh
# Start a tool with a Python that is new enough: sh scripts/start.sh issue_triage run --sweep
#
# The runner's own Python will do, on Linux, macOS and Windows. Tried in turn: what PATH offers,
# then what hosted runners keep beside it (ubuntu-22.04 has 3.10 in PATH and 3.11+ in its cache).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

new_enough() { # a Windows "python3" may be a signpost to a shop: only a run tells
  "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

for python in python3 python python3.14 python3.13 python3.12 python3.11 \
  "${RUNNER_TOOL_CACHE:-/none}"/Python/3.1[1-9].*/*/bin/python3; do
  if new_enough "$python"; then
    exec "$python" -I -X utf8 "$here/launch.py" "$@"
  fi
done

message="triage-action needs Python 3.11 or newer, and this machine has none in PATH. \
Install one, or put actions/setup-python (GitHub) or image: python:3.12-slim (GitLab) into the job."
if [ "${GITHUB_ACTIONS:-}" = true ]; then
  echo "::error::$message"
else
  echo "$message" >&2
fi
exit 2
