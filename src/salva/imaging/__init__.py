"""Pixels and image files: strange bytes to pictures, pictures to bytes others can read."""
