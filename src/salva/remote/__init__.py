"""Endpoints on the other side of HTTP: clients of their makers' kits, and their errors in our words."""
