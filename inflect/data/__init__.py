"""Triples: where they come from, how they are read and checked, and how they become batches."""
