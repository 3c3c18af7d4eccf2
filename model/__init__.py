"""The protocol: what a cluster state is, every way it can move, its versions and circumstances."""
