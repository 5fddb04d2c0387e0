"""Faults put into a normalizer one at a time, to see whether the corpus and the laws notice."""
