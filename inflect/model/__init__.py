"""The stacked Transformer: tensors and symbols in, losses and forms out; it knows no languages."""
