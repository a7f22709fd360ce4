"""Invented triples: alignment of lemma and form, StemCorrupt, the pool."""
