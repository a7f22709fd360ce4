import pytest
import torch

from inflect.data.batches import Encoded
from inflect.data.datamodule import EveryRow
from inflect.model.metrics import FormScores, MemberMean


def test_accuracy_is_sum_over_sum_not_the_mean_of_batches() -> None:
    rows = torch.arange(5).unsqueeze(1) + 3
    data = EveryRow([Encoded(rows, rows, torch.ones(5).long(), torch.ones(5).long())], size=4)
    metric = MemberMean(1)
    for batch in (data[0], data[1]):
        present = batch.rows.ge(0)
        right = batch.rows.ne(4) & present  # the last row is wrong
        metric.update(right.sum(dim=1), present.sum(dim=1))
    assert metric.compute().item() == 0.8


def test_form_scores_by_group() -> None:
    metric = FormScores(["N;PL", "N;SG", "V"])
    metric.update(["abs", "cd"], ["abs", "cds"], ["N;PL", "N;PL"])
    metric.update(["x"], ["yyy"], ["N;SG"])
    found = {name: values.tolist() for name, values in metric.compute().items()}
    assert found["rows"] == [2, 1, 0]
    assert found["accuracy"][:2] == [0.5, 0.0]
    assert found["edit_distance"][:2] == [pytest.approx(0.5), 3.0]
