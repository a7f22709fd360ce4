"""A user's own files, alone and in place of a language's."""

from pathlib import Path

import pytest

from inflect.data.artificial import Artificial
from inflect.data.files import OwnFiles
from inflect.data.settings import DataSettings
from inflect.data.splits import paper
from inflect.errors import UserError

OWN = OwnFiles("own", "own")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    lines = {"train": "a b\tas\tPL\n", "dev": "c\tcs\tPL\n", "test": "a b\ta\tSG\nd\td s\tPL\n"}
    for part, text in lines.items():
        (tmp_path / part).write_text(text, encoding="utf-8")
    return {part: str(tmp_path / part) for part in lines}


def test_own_files(files: dict[str, str]) -> None:
    corpus = OWN.load(DataSettings(**files))
    assert corpus.gold.values.tolist() == [["a b", "as", "PL"]]
    assert corpus.dev.values.tolist() == [["c", "cs", "PL"]]
    assert corpus.test.values.tolist() == corpus.candidates.values.tolist() == [["a b", "a", "SG"], ["d", "d s", "PL"]]
    assert paper(corpus).values.tolist() == [["d", "d s", "PL"]]


def test_order_of_columns(files: dict[str, str]) -> None:
    corpus = OWN.load(DataSettings(**files, columns="lemma msd form"))
    assert corpus.gold.to_dict("records") == [{"lemma": "a b", "form": "PL", "msd": "as"}]


def test_spaces_are_dropped_on_demand(files: dict[str, str]) -> None:
    corpus = OWN.load(DataSettings(**files, spaces="drop"))
    assert corpus.gold["lemma"].tolist() == ["ab"]
    assert corpus.test["form"].tolist() == ["a", "ds"]


def test_home_folder(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path(files["train"]).parent))
    assert len(OWN.load(DataSettings(**files | {"train": "~/train"})).gold) == 1


def test_own_files_win_over_a_language(files: dict[str, str]) -> None:
    language = Artificial("artificial", "artificial")
    built_in, mixed = language.load(DataSettings()), language.load(DataSettings(train=files["train"]))
    assert mixed.gold.values.tolist() == [["a b", "as", "PL"]]
    assert mixed.dev.equals(built_in.dev)
    assert mixed.candidates.equals(built_in.candidates)


def test_a_file_is_not_set(files: dict[str, str]) -> None:
    with pytest.raises(UserError, match=r"lang=own: set data\.dev, data\.test to a file"):
        OWN.load(DataSettings(train=files["train"]))


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_an_empty_file(part: str, files: dict[str, str]) -> None:
    Path(files[part]).write_text("", encoding="utf-8")
    with pytest.raises(UserError, match=f"{part}: the file has no triples"):
        OWN.load(DataSettings(**files))


@pytest.mark.parametrize("columns", ["", "lemma form", "lemma form form msd", "form,lemma,msd", "lemma tag form"])
def test_unknown_columns(columns: str) -> None:
    with pytest.raises(UserError, match=r"data\.columns="):
        DataSettings(columns=columns)


def test_unknown_spaces() -> None:
    with pytest.raises(UserError, match=r"data\.spaces=yes: it must be keep or drop"):
        DataSettings(spaces="yes")
