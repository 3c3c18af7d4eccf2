"""Reports of a gate for people and CI systems; each is a pure function."""
