"""post-mortem-render: from a gated record to a document."""
