"""`fit`, `score` and `inspect` from one end to the other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import carat
from carat.cli import run
from carat.data import TableWriter
from carat.fitting.store import read_folder
from tests.support.commands import INSTANT, give_stdin, read_csv, snapshot, write_csv
from tests.support.planted import DOMAINS, planted_table, record

COLUMNS = ["record", "score", "percentile", "anomalous", "alarm"]
STRANGE = record(Port=0, Good=1, Carrier=2, Buyer=3)
NORMAL = record(Port=4, Good=4, Carrier=4, Buyer=4)


def table_of(*records: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(records))


def test_fit_writes_a_model_and_says_so(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(work / "more.csv", planted_table().append_column("Weight", pa.array(range(1200))))
    assert run(["fit", "more.csv", "--out", "new", *INSTANT]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    domains, left_out, found, measured, summary = said.err.splitlines()
    assert (
        domains
        == "columns: "
        + ", ".join(f"{name} ({size})" for name, size in zip(DOMAINS, sizes(), strict=True)).replace(")", " values)", 1)
        + "; leave one out with --without NAME"
    )
    assert left_out == (
        "left out: Weight (numbers); use one anyway with --also NAME, or as ranges of numbers with --numeric NAME=10"
    )
    assert found.startswith("Only 60 of the 120 held-out rows set the threshold (the others decide how much the alarm ")
    assert "counts beside the score): rows stranger than all of them are anomalous, and" in found
    assert re.fullmatch(
        r"A row with a wrong value is listed above a normal one in \d+\.\d% of cases \(\d+\.\d% by the score alone\); "
        r"the wrong values are made up for this check",
        measured,
    )
    assert summary.startswith("new: 1,200 rows, 4 columns, 60 distinct values, detector counts, explainer judge")
    assert carat.load(work / "new").vocabulary.names == list(DOMAINS)
    assert not (work / "new.partial").exists()


def sizes() -> list[int]:
    return [len(planted_table()[name].unique()) for name in DOMAINS]


def test_a_dataset_without_one_of_its_domains(work: Path) -> None:
    """Its metapaths through that domain go with it."""
    fit = ["fit", "flights", "--out", "f", "--without", "Dest,TailNum,Flight", "--quiet", *INSTANT]
    assert run(fit) == 0
    assert "Dest" not in carat.load(work / "f").vocabulary.names


def test_columns_beside_and_without(work: Path) -> None:
    write_csv(work / "more.csv", planted_table().append_column("Weight", pa.array([i % 7 for i in range(1200)])))
    (work / "carat.toml").write_text('[table]\nalso = ["Weight"]\nwithout = ["Port"]\n')
    assert run(["fit", "more.csv", "--out", "new", "--config", "carat.toml", *INSTANT]) == 0
    assert carat.load(work / "new").vocabulary.names == ["Good", "Carrier", "Buyer", "Weight"]
    fit = ["fit", "more.csv", "--out", "newer", "--config", "carat.toml", "--without", "Buyer, Good", *INSTANT]
    assert run(fit) == 0, "the command wins over the file"
    assert carat.load(work / "newer").vocabulary.names == ["Port", "Carrier", "Weight"]


def test_numbers_in_ranges(work: Path) -> None:
    table = planted_table().append_column("Weight", pa.array(range(1200)))
    write_csv(work / "more.csv", table.append_column("A=B", pa.array([f"{i % 11}.5" for i in range(1200)])))
    assert run(["fit", "more.csv", "--out", "new", "--numeric", "Weight=10, A=B=4", *INSTANT]) == 0
    found = carat.load(work / "new")
    assert found.vocabulary.names == [*DOMAINS, "Weight", "A=B"]
    assert found.schema.numeric == {"Weight": 10, "A=B": 4}
    assert found.vocabulary.domains[4].entities[1].as_py() == "119.9 to below 239.8"
    (work / "carat.toml").write_text("[table]\nnumeric = { Weight = 3 }\n")
    assert run(["fit", "more.csv", "--out", "a", "--config", "carat.toml", *INSTANT]) == 0
    assert carat.load(work / "a").schema.numeric == {"Weight": 3}
    fit = ["fit", "more.csv", "--out", "b", "--config", "carat.toml", "--numeric", "A=B=2", *INSTANT]
    assert run(fit) == 0, "the command wins over the file"
    assert carat.load(work / "b").schema.numeric == {"A=B": 2}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("Weight", "--numeric takes columns and their number of ranges, as Weight=10,Value=5; got 'Weight'"),
        ("Weight=ten", "got 'Weight=ten'"),
        ("=10", "got '=10'"),
        ("Weight=1", "--numeric: column 'Weight' needs between 2 and 1000 bins, got 1"),
        ("Wieght=10", "no column 'Wieght'; did you mean 'Weight'"),
        ("Port=10", "; clean it, or leave it out of --numeric"),
    ],
)
def test_numbers_in_ranges_that_can_not_be(
    work: Path, capsys: pytest.CaptureFixture[str], given: str, said: str
) -> None:
    write_csv(work / "more.csv", planted_table().append_column("Weight", pa.array(range(1200))))
    assert run(["fit", "more.csv", "--out", "new", "--numeric", given, *INSTANT]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (work / "new").exists()


def test_free_text_is_left_out_and_taken_when_named(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    remarks = pa.array([f"please call number {number} before noon" for number in range(1200)])
    write_csv(work / "more.csv", planted_table().append_column("Remark", remarks))
    assert run(["fit", "more.csv", "--out", "new", *INSTANT]) == 0
    assert "left out: Remark (free text); use one anyway with --also NAME\n" in capsys.readouterr().err
    assert run(["fit", "more.csv", "--out", "also", "--also", "Remark", *INSTANT]) == 0
    assert carat.load(work / "also").vocabulary.names == [*DOMAINS, "Remark"]


def test_records_called_by_a_column(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(work / "n.csv", planted_table().append_column("Number", pa.array([f"N{i}" for i in range(1200)])))
    assert run(["fit", "n.csv", "--out", "first", *INSTANT]) == 0
    assert "Number (a different value in every row); " in (said := capsys.readouterr().err)
    assert "use one anyway with --also NAME, or name the row ID with --id NAME" in said
    assert run(["fit", "n.csv", "--out", "second", "--id", "Number", *INSTANT]) == 0
    assert run(["score", "second", "n.csv", "--out", "s.csv", "--quiet"]) == 0
    assert read_csv(work / "s.csv")["record"].to_pylist()[:2] == ["N0", "N1"]


def test_who_scores_what_was_learned_is_told(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = "the model learned from 1,080 of these rows"
    assert run(["score", "model", "planted.csv", "--out", "s.csv"]) == 0
    assert told in capsys.readouterr().err
    assert run(["recourse", "model", "planted.csv", "--out", "r.csv"]) == 0
    assert told in capsys.readouterr().err
    assert run(["recourse", "model", "planted.csv", "--out", "t.csv", "--top", "3"]) == 0
    assert told not in capsys.readouterr().err, "the order is what they asked for"
    (work / "february").mkdir()
    write_csv(work / "february" / "planted.csv", planted_table(seed=1))
    assert run(["score", "model", "february/planted.csv", "--out", "l.csv"]) == 0
    assert told not in capsys.readouterr().err, "as many records under the same name, and yet others"
    write_csv(work / "renamed.csv", planted_table())
    assert run(["explain", "model", "renamed.csv", "--out", "e.csv"]) == 0
    assert told in capsys.readouterr().err, "the same records under another name"


def test_score_finds_the_strange_record(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(work / "later.csv", table_of(NORMAL, STRANGE, NORMAL))
    assert run(["score", "model", "later.csv", "--out", "scores.csv"]) == 0
    scores = read_csv(work / "scores.csv")
    assert scores.column_names == COLUMNS
    assert scores["record"].to_pylist() == [0, 1, 2]
    assert scores["anomalous"].to_pylist() == [False, True, False]
    assert scores["percentile"].to_pylist()[1] == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "scores.csv: 3 rows, 1 anomalous (33.33%)\n")


@pytest.mark.parametrize("gate", ["both", "score"])
@pytest.mark.parametrize("quantile", [None, 0.3, 0.9])
def test_percentile_and_anomalous_are_as_defined(quantile: float | None, gate: str, work: Path) -> None:
    before = snapshot(work / "model")
    option = [] if quantile is None else ["--threshold", str(quantile)]
    option += [] if gate == "both" else ["--gate", gate]
    assert run(["score", "model", "planted.csv", "--out", "scores.parquet", *option]) == 0
    assert snapshot(work / "model") == before, "nothing is refitted"
    scores = {name: column.to_numpy() for name, column in zip(COLUMNS, pq.read_table("scores.parquet"), strict=True)}
    model = carat.load(work / "model")
    reference = model.reference.double().numpy()
    assert len(reference) == 120
    share = (reference[None, :] <= scores["score"][:, None]).mean(axis=1)
    np.testing.assert_allclose(scores["percentile"], 100 * share)
    if gate == "score":
        np.testing.assert_array_equal(scores["anomalous"], scores["score"] < np.quantile(reference, quantile or 0.01))
        assert np.isnan(scores["alarm"]).all(), "nobody was asked"
        return
    scale = model.with_threshold(quantile or 0.01).scale
    assert scale.alarm is not None
    by_score, by_alarm = scores["score"] < scale.threshold, scores["alarm"] >= scale.alarm
    np.testing.assert_array_equal(scores["anomalous"], by_score | by_alarm)
    share = scores["anomalous"].mean()
    assert share <= (quantile or 0.01) + 0.06, "the share that was asked for, give or take what 60 rows can tell"


def test_a_threshold_can_be_a_score(work: Path) -> None:
    write_csv(work / "later.csv", table_of(NORMAL, STRANGE))
    for value, by_both, by_score in (("1e9", [True, True], [True, True]), ("-1e9", [False, True], [False, False])):
        for gate, expected in (("both", by_both), ("score", by_score)):
            options = ["--out", "s.csv", "--force", "--threshold-score", value, "--gate", gate]
            assert run(["score", "model", "later.csv", *options]) == 0
            assert read_csv(work / "s.csv")["anomalous"].to_pylist() == expected, "the alarm keeps its cut"


def test_an_unknown_gate_is_refused(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "model", "planted.csv", "--out", "s.csv", "--gate", "alarm"]) == 2
    assert capsys.readouterr().err == "carat: --gate must be 'both' or 'score', got 'alarm'\n"


def test_without_memory_no_records_are_kept(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fit", "planted.csv", "--out", "plain", "--no-memory", *INSTANT]) == 0
    assert not (work / "plain" / "gate.safetensors").exists()
    model = carat.load(work / "plain")
    assert model.explainer is not None
    assert model.explainer.name == "counts"
    assert not model.holds_records
    assert model.score(work / "planted.csv")["alarm"].null_count == 1200
    capsys.readouterr()
    for name, said in (("plain", "does not hold its training rows"), ("model", "holds its 1,080 training rows")):
        assert run(["inspect", name]) == 0
        assert said in " ".join(capsys.readouterr().out.split())


def test_the_configuration_decides(work: Path) -> None:
    table = planted_table()
    table = table.append_column("Name", pa.array([f"r{i}" for i in range(1200)]))
    table = table.append_column("Weight", pa.array(range(1200)))
    write_csv(work / "more.csv", table)
    (work / "carat.toml").write_text(
        "[table]\ndomains = ['Port', 'Good']\nid = 'Name'\nthreshold = 0.5\n"
        "numeric = { Weight = 3 }\nmetapaths = [['Port', 'Good']]\n"
    )
    assert run(["fit", "more.csv", "--out", "new", "--config", "carat.toml", *INSTANT]) == 0
    model = carat.load(work / "new")
    assert model.vocabulary.names == ["Port", "Good", "Weight"]
    assert model.schema.metapaths == (("Port", "Good"),)
    assert model.threshold.quantile == 0.5
    assert run(["score", "new", "more.csv", "--out", "scores.csv"]) == 0
    assert read_csv(work / "scores.csv")["record"].to_pylist() == table["Name"].to_pylist()
    (work / "carat.toml").write_text("[table]\ndomains = ['Port', 'Good']\n")
    named = ["--config", "carat.toml", "--columns", "Carrier, Port"]
    assert run(["fit", "more.csv", "--out", "two", *named, *INSTANT]) == 0
    assert carat.load(work / "two").vocabulary.names == ["Carrier", "Port"], "--columns wins"


def test_json_lines_through_pipes(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give_stdin(monkeypatch, planted_table().to_pylist())
    assert run(["fit", "-", "--out", "piped", *INSTANT]) == 0
    capsys.readouterr()
    give_stdin(monkeypatch, [NORMAL, STRANGE])
    assert run(["score", "piped", "-", "--out", "-"]) == 0
    said = capsys.readouterr()
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [list(row) for row in rows] == [COLUMNS, COLUMNS]
    assert [row["anomalous"] for row in rows] == [False, True]
    assert "2 rows, 1 anomalous" in said.err
    write_csv(work / "later.csv", table_of(NORMAL, STRANGE))
    assert run(["score", "model", "later.csv", "--out", "-", "--quiet"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == rows, "the same as from a file"


@pytest.mark.parametrize("data", ["later.csv", "later.csv.gz", "later.parquet", "later.jsonl"])
def test_every_format_gives_the_same_scores(data: str, work: Path) -> None:
    write_csv(work / "plain.csv", table_of(NORMAL, STRANGE))
    with TableWriter(work / data) as writer:
        writer.write(table_of(NORMAL, STRANGE))
    assert run(["score", "model", "plain.csv", "--out", "expected.csv"]) == 0
    assert run(["score", "model", data, "--out", "scores.csv"]) == 0
    assert read_csv(work / "scores.csv") == read_csv(work / "expected.csv")


def test_unseen_entities_are_named(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = [{**NORMAL, "Port": "Atlantis"}, {**NORMAL, "Port": "Atlantis"}, {**NORMAL, "Buyer": "nobody\nknown"}]
    write_csv(work / "later.csv", table_of(*odd))
    assert run(["score", "model", "later.csv", "--out", "s.csv"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert "Port Atlantis (2×), Buyer nobody" in lines[0]
    assert len(lines) == 2


def test_quiet_says_nothing(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(work / "later.csv", table_of({**NORMAL, "Port": "Atlantis"}))
    assert run(["fit", "planted.csv", "--out", "new", "--quiet", *INSTANT]) == 0
    assert run(["score", "new", "later.csv", "--out", "s.csv", "--quiet"]) == 0
    assert run(["fit", "planted.csv", "--out", "new", "--resume", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_force_replaces(work: Path) -> None:
    write_csv(work / "other.csv", planted_table(300))
    assert run(["fit", "other.csv", "--out", "model", "--force", *INSTANT]) == 0
    assert carat.load(work / "model").training["records"] == 270
    (work / "s.csv").write_text("before")
    assert run(["score", "model", "other.csv", "--out", "s.csv", "--force"]) == 0
    assert len(read_csv(work / "s.csv")) == 300
    assert sorted(path.name for path in work.iterdir()) == [
        "model",
        "other.csv",
        "planted.csv",
        "s.csv",
        "s.csv.about.json",
    ]


@pytest.mark.parametrize("out", ["s.csv", "s.parquet", "-"])
def test_no_rows_give_an_empty_table(out: str, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(planted_table(2).slice(0, 0), work / "none.parquet")
    assert run(["score", "model", "none.parquet", "--out", out]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "0 rows, 0 anomalous" in said.err
    if out != "-":
        found = pq.read_table(out) if out == "s.parquet" else read_csv(work / out)
        assert (found.column_names, found.num_rows) == (COLUMNS, 0)


def test_a_header_without_rows_is_bad_input(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / "none.csv").write_text(",".join(DOMAINS) + "\n")
    for command in ("score", "explain", "recourse"):
        assert run([command, "model", "none.csv", "--out", "out.csv"]) == 2
        assert capsys.readouterr().err == "carat: none.csv: there is a header but no rows\n"
    assert not (work / "out.csv").exists()


def test_resuming_a_complete_fit_does_nothing(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = snapshot(work)
    assert run(["fit", "planted.csv", "--out", "model", "--resume", *INSTANT]) == 0
    assert capsys.readouterr().err == "model: already complete, nothing to resume\n"
    assert snapshot(work) == before


def test_inspect_shows_what_the_model_knows(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert run(["inspect", "model"]) == 0
    shown = capsys.readouterr().out
    assert "1,080 rows, 120 more held out" in shown
    assert shown.count("are off by 0.") == 1, "one error of the likelihoods, not two"
    assert "\N{REPLACEMENT CHARACTER}" not in shown, "two sentences stand on two lines"
    assert "rows with a lower score or a higher alarm than all of the few held-out rows" in shown, (
        "60 rows can not tell 1%"
    )
    assert all(name in shown for name in (*DOMAINS, "all verified", "detector.safetensors"))


def test_the_steps_of_a_fit_are_printed_stored_and_shown(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    command = ["fit", "planted.csv", "--profile", "instant", "--no-explainer", "--detector", "ape", "--device", "cpu"]
    for out in ("a", "b"):
        assert run([*command, "--out", out, "--steps", "60"]) == 0
        assert "training takes 60 of 1,020 steps, about" in capsys.readouterr().err
    first, second = read_folder(work / "a"), read_folder(work / "b")
    assert first.facts["identity"] == second.facts["identity"]
    assert first.facts["training"]["steps"]["stages"] == {"ape": 60}
    assert run(["inspect", "a"]) == 0
    assert "60 of 1,020 steps (ape 60); --steps 60 trains the same again" in capsys.readouterr().out


def test_inspect_for_machines(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "model", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["schema"]["domains"] == list(DOMAINS)
    assert {name: part["entities"] for name, part in facts["domains"].items()} == {
        "Port": 6,
        "Good": 18,
        "Carrier": 12,
        "Buyer": 24,
    }
    assert (facts["training"]["records"], facts["training"]["held_out"]) == (1080, 120)
    assert facts["detector"]["name"] == "counts"
    assert set(facts["files"]) == {path.name for path in (work / "model").iterdir()} - {"manifest.json"}


def test_inspect_shows_entities_as_they_are(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(work / "marks.csv", pa.table({"Port": ["[b]x", "[/b]y"] * 10, "Good": ["c", "d", "d", "c"] * 5}))
    assert run(["fit", "marks.csv", "--out", "new", *INSTANT]) == 0
    assert run(["inspect", "new"]) == 0
    shown = capsys.readouterr().out
    assert "[b]x" in shown
    assert "[/b]y" in shown
