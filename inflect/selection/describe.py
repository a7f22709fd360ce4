"""What a subset looks like beside the pool it was selected from."""

import numpy as np
import pandas as pd

from inflect.selection.strategies import Floats, Ids


def compare(pool: pd.DataFrame, subset: Ids, uncertainty: Floats | None) -> pd.DataFrame:
    """Figures of the pool and of the subset (row ids of the pool), a row each; uncertainty where it is known."""
    known = None if uncertainty is None else pd.Series(uncertainty, index=pool.index)
    tables = {"pool": pool, "subset": pool.loc[subset]}
    columns = {name: _figures(table, None if known is None else known[table.index]) for name, table in tables.items()}
    return pd.DataFrame(columns)


def _figures(table: pd.DataFrame, uncertainty: "pd.Series[float] | None") -> dict[str, float]:
    counts = table["msd"].value_counts().to_numpy()
    shares = counts / counts.sum()
    figures = {
        "triples": len(table),
        "MSDs": len(counts),
        "share of the most frequent MSD": shares[0],
        "entropy of MSDs (bits)": float((shares * np.log2(1 / shares)).sum()),
        "parents in gold": table["parent"].nunique(),
        "edits of the form, mean": table["edits"].mean(),
        "stem length, mean": table["stem_length"].mean(),
        "form length, mean": table["form"].str.len().mean(),
    }
    if uncertainty is not None:
        figures["uncertainty, mean"] = float(uncertainty.mean())
    return figures
