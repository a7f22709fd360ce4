"""Train, test and log several runs as one stack."""
