"""Liveness and recovery on the explored graph: fair components, lassos, AG EF."""
