"""Which rows of the pool to train on: uncertainty of the base model, and the strategies."""
