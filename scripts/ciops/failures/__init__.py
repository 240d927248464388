"""pipeline-failure-report: from a red pipeline to its root causes."""
