"""Data augmentation and data selection for morphological inflection."""

__version__ = "0.1.0"
