"""Beam search for all members of a stack at once, with a key-value cache (greedy is a beam of one).

Keys and values of the source are computed once and shared by all beams. Those of what was written are never
moved when beams are re-ranked: every beam of a row sees the row's whole cache, and a mask opens the entries
that lie on its own path.

Dimensions as in `inflect.model.layers`, and: K beams, R rows still searching, P cached entries of a row.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from inflect import progress
from inflect.data.batches import Encoded
from inflect.data.datamodule import EveryRow
from inflect.data.symbols import EOS, PAD, UNKNOWN
from inflect.model.layers import MASKED
from inflect.model.transformer import DecoderLayer, StackedTransformer

NEVER = -1e9  # a hypothesis that no search may continue


@dataclass(frozen=True)
class Decoded:
    """`ids` [M, B, T]: the best hypotheses, EOS and padding after them; `scores` [M, B]: mean ln p per symbol."""

    ids: Tensor
    scores: Tensor


@torch.inference_mode()
def decode(model: StackedTransformer, source: Tensor, beam: int = 5, longest: int = 200) -> Decoded:
    """The best form for each `source` [M, B, S] by mean log-probability per symbol, EOS included.

    A search ends when `beam` hypotheses of the row have ended, as in fairseq; one that has written `longest`
    symbols must end there. PAD and UNKNOWN are never written.
    """
    members, rows, _ = source.shape
    device = source.device
    best_scores = torch.full((members, rows), -torch.inf, device=device)
    best_ids = torch.full((members, rows, longest + 1), PAD, device=device)
    ended = torch.zeros(members, rows, dtype=torch.long, device=device)

    encoded, source_mask = model.encode(source)
    search = _Search.start(model, encoded, source_mask, members, rows, beam)
    for step in range(longest + 1):
        log_p = search.advance(model)  # [M, R, K, V]
        log_p[..., PAD] = log_p[..., UNKNOWN] = NEVER
        if step == longest:
            log_p[..., EOS + 1 :] = NEVER
        totals = search.totals.unsqueeze(-1) + log_p
        # beams are copies of one another at the first step: only the first may be continued
        flat = (totals[:, :, :1] if step == 0 else totals).flatten(2)
        candidates = min(2 * beam, flat.shape[-1])
        top, index = flat.topk(candidates, dim=-1)
        parent, symbol = index // totals.shape[-1], index % totals.shape[-1]

        ends = symbol.eq(EOS) & top.gt(NEVER / 2)
        finished = ends[..., :beam] & (ended.gather(1, search.row) < beam).unsqueeze(-1)
        mean = torch.where(finished, top[..., :beam] / (step + 1), -torch.inf)
        score, place = mean.max(dim=-1)  # [M, R]
        better = score > best_scores.gather(1, search.row)
        if better.any():
            member, position = better.nonzero(as_tuple=True)
            row = search.row[member, position]
            best_scores[member, row] = score[member, position]
            path = search.written[member, position, parent[member, position, place[member, position]]]
            best_ids[member, row, :step] = path
            best_ids[member, row, step] = EOS
            best_ids[member, row, step + 1 :] = PAD
        ended.scatter_add_(1, search.row, finished.sum(dim=-1))

        searching = ended.gather(1, search.row) < beam
        if step == longest or not searching.any():
            break
        # the best `beam` candidates that go on; where fewer exist, hypotheses that can never win
        going = torch.where(ends, NEVER, top)
        totals, place = going.topk(min(beam, candidates), dim=-1)
        parent, symbol = parent.gather(-1, place), symbol.gather(-1, place)
        search.step(totals, parent, symbol)
        if int(searching.sum(dim=1).max()) <= 3 * searching.shape[1] // 4:
            search.keep(searching)
    return Decoded(best_ids[..., : int(best_ids.ne(PAD).sum(dim=-1).max())], best_scores)


def decode_tables(
    model: StackedTransformer, members: Sequence[Encoded], beam: int, what: str
) -> list[list[tuple[list[int], float]]]:
    """Each member's best hypothesis (ids, mean ln p per symbol) for every row of its table, in the table's order."""
    data = EveryRow(members)
    results: list[list[tuple[list[int], float]]] = [[([], -math.inf)] * len(member) for member in members]
    for index in progress.bar(range(len(data)), what=what, unit="batch"):
        batch = data[index]
        decoded = decode(model, batch.source.to(next(model.parameters()).device), beam)
        for member, rows in enumerate(batch.rows.tolist()):
            for row, ids, score in zip(
                rows, decoded.ids[member].tolist(), decoded.scores[member].tolist(), strict=True
            ):
                if row >= 0:
                    results[member][row] = (ids, score)
    return results


@dataclass
class _Search:
    """The state of a beam search over the rows that still search.

    `row` [M, R] is each one's row in the batch; `written` [M, R, K, t] the symbols so far; `totals` [M, R, K]
    their summed ln p; `paths` [M, R, K, P] is 0 at cache entries of a beam's own past, else `MASKED`.
    `history` and `source` are keys and values of each layer, [M·R·H, P or S, D/H].
    """

    row: Tensor
    written: Tensor
    totals: Tensor
    paths: Tensor
    history: list[tuple[Tensor, Tensor]]
    source: list[tuple[Tensor, Tensor]]
    source_mask: Tensor

    @classmethod
    def start(
        cls, model: StackedTransformer, encoded: Tensor, mask: Tensor, members: int, rows: int, beam: int
    ) -> "_Search":
        device, shape = encoded.device, model.shape
        part = shape.width // shape.heads
        empty = torch.empty(members * rows * shape.heads, 0, part, dtype=encoded.dtype, device=device)
        layers = [layer for layer in model.decoder if isinstance(layer, DecoderLayer)]
        return cls(
            row=torch.arange(rows, device=device).expand(members, rows),
            written=torch.empty(members, rows, beam, 0, dtype=torch.long, device=device),
            totals=torch.zeros(members, rows, beam, device=device),
            paths=torch.empty(members, rows, beam, 0, dtype=encoded.dtype, device=device),
            history=[(empty, empty) for _ in layers],
            source=[layer.cross.project(encoded, rows) for layer in layers],
            source_mask=mask,
        )

    def advance(self, model: StackedTransformer) -> Tensor:
        """Read the last symbol of every beam; log-probabilities [M, R, K, V] of the next."""
        members, rows, beam, length = self.written.shape
        last = self.written[..., -1] if length else torch.full_like(self.row, EOS).unsqueeze(2).repeat(1, 1, beam)
        x = model.embed(model.target_embedding, last.reshape(members, rows * beam, 1), first=length)
        own = torch.full((beam, beam), MASKED, dtype=x.dtype, device=x.device).fill_diagonal_(0)
        self.paths = torch.cat([self.paths, own.expand(members, rows, beam, beam)], dim=-1)
        mask = self.paths.flatten(0, 1)
        for index, layer in enumerate(model.decoder):
            assert isinstance(layer, DecoderLayer)
            new = layer.attention.project(x, rows)
            keys, values = (torch.cat(pair, dim=1) for pair in zip(self.history[index], new, strict=True))
            self.history[index] = (keys, values)
            x = layer(x, (keys, values), self.source[index], mask, self.source_mask, rows)
        return torch.log_softmax(model.scores(x).view(members, rows, beam, -1), dim=-1)

    def step(self, totals: Tensor, parent: Tensor, symbol: Tensor) -> None:
        """Go on from beams `parent` [M, R, K] with `symbol` [M, R, K]."""
        self.totals = totals
        written = self.written.gather(2, parent.unsqueeze(-1).expand(*parent.shape, self.written.shape[-1]))
        self.written = torch.cat([written, symbol.unsqueeze(-1)], dim=-1)
        self.paths = self.paths.gather(2, parent.unsqueeze(-1).expand(*parent.shape, self.paths.shape[-1]))

    def keep(self, searching: Tensor) -> None:
        """Drop rows that have ended: every member keeps as many as the one with most rows left."""
        most = int(searching.sum(dim=1).max())
        chosen = searching.int().argsort(dim=1, descending=True, stable=True)[:, :most]  # [M, R']
        members, rows = searching.shape
        flat = (chosen + torch.arange(0, members * rows, rows, device=chosen.device).unsqueeze(1)).flatten()

        def pick(tensor: Tensor) -> Tensor:
            return tensor.flatten(0, 1)[flat].view(members, most, *tensor.shape[2:])

        self.row, self.written = pick(self.row), pick(self.written)
        self.totals, self.paths = pick(self.totals), pick(self.paths)
        heads = self.history[0][0].shape[0] // (members * rows)

        def pick_heads(tensor: Tensor) -> Tensor:
            return tensor.unflatten(0, (-1, heads))[flat].flatten(0, 1)

        self.history = [(pick_heads(keys), pick_heads(values)) for keys, values in self.history]
        self.source = [(pick_heads(keys), pick_heads(values)) for keys, values in self.source]
        self.source_mask = self.source_mask[flat]
