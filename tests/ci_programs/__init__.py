"""The CI programs that packaging tests drive, and the texts they keep in step."""
