"""issue-triage: facts, decision, planned writes, apply."""
