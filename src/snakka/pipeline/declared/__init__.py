"""Declared pipelines: from topics, decoded, transformed and checked, to a table or a topic."""
