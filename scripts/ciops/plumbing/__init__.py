"""What every tool stands on: YAML files, HTTP, rendering and the CI host."""
