"""Where a post-mortem can go; one file a destination."""
