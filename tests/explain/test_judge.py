"""The judge on a table whose answer is visible to the eye."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

import carat
from carat.data import MISSING, UNSEEN
from carat.errors import InputError
from carat.explain import CountsExplainer, Judge, targets
from carat.explain.lessons import Corruption
from carat.testing.parts import judging, training_data
from tests.support.planted import DOMAINS, corrupted, planted_table


@pytest.fixture(scope="module")
def model() -> carat.Model:
    return carat.fit(planted_table(), profile="instant", explainer="judge", device="cpu")


@pytest.fixture
def judge(model: carat.Model) -> Judge:
    assert isinstance(model.explainer, Judge)
    return model.explainer


def wrong_records(model: carat.Model) -> tuple[torch.Tensor, torch.Tensor]:
    records, where = corrupted()
    gold = torch.tensor([[name == domain for name in DOMAINS] for domain in where])
    return model.vocabulary.encode(records), gold


def test_blames_the_entity_that_was_replaced(model: carat.Model, judge: Judge) -> None:
    ids, gold = wrong_records(model)
    assert (targets(judge.likelihood(ids)) == gold).double().mean() >= 0.97


def test_alarm_tells_wrong_new_and_blank_from_untouched(model: carat.Model, judge: Judge) -> None:
    """Every domain of the planted table is always filled and brings nothing new: a blank and a stranger are news."""
    normal = model.vocabulary.encode(planted_table(200, seed=9).to_pylist())
    usual = judge.alarm(normal)
    assert float(judge.alarm(wrong_records(model)[0]).min()) > float(usual.median())
    for reserved in (UNSEEN, MISSING):
        strange = normal.clone()
        strange[:, 2] = reserved
        assert float((judge.alarm(strange) > usual.quantile(0.95)).double().mean()) >= 0.9
    likelihood = judge.likelihood(torch.tensor([[2, MISSING, 2, 2]]))
    assert likelihood[0, 1].isnan(), "a missing entity has no likelihood, whatever it adds to the alarm"
    wrong = judge.wrong(normal)
    torch.testing.assert_close(usual, 1 - (1 - wrong.double()).prod(dim=1).float(), rtol=1e-3, atol=1e-5)


def test_repairs_by_the_vote(model: carat.Model) -> None:
    ids, gold = wrong_records(model)
    outcome = model.method().find(ids.long(), carat.recourse.Settings(k=3))
    assert model.method().name == "instant"
    texts = model.vocabulary.decode(outcome.counterfactuals[:, 0])
    right = [
        texts[name][row].as_py().startswith(f"{name}-{row // 4}")
        for row, name in enumerate(DOMAINS[place] for place in gold.int().argmax(dim=1).tolist())
    ]
    assert sum(right) >= 0.9 * len(right)


def test_what_it_learns_from() -> None:
    """A share untouched, one or two entities replaced elsewhere, some by nothing or by one never seen."""
    data = training_data()
    ids = data.train[:1_000].long()
    changed, wrong = Corruption().corrupt(ids, data, torch.Generator().manual_seed(0))
    assert torch.equal(wrong, changed != ids)
    count = wrong.sum(dim=1)
    assert count.max() == 2
    assert 0.25 <= float((count == 0).double().mean()) <= 0.5, "a draw may also hit the entity itself"
    assert (changed[wrong] == MISSING).any()
    assert (changed[wrong] == UNSEEN).any()


def test_saved_and_loaded(model: carat.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    loaded = carat.load(tmp_path / "m")
    ids, _ = wrong_records(model)
    assert isinstance(loaded.explainer, Judge)
    assert isinstance(model.explainer, Judge)
    assert torch.equal(loaded.explainer.alarm(ids), model.explainer.alarm(ids))
    assert loaded.identity == model.identity


def test_an_unknown_neighbour_is_refused() -> None:
    with pytest.raises(InputError, match="beside must be one of transformer, counts, got 'count'"):
        carat.fit(planted_table(200), profile="instant", explainer=Judge(beside="count"))


@pytest.mark.parametrize("beside", [None, "counts"])
def test_a_folder_gives_back_the_same_judge(beside: str | None, tmp_path: Path) -> None:
    """With and without an explainer beside it, and its lighter verdict too."""
    model = judging(beside=beside)
    model.save(tmp_path / "m")
    loaded = carat.load(tmp_path / "m")
    ids, _ = wrong_records(model)
    old, new = model.explainer, loaded.explainer
    assert isinstance(old, Judge)
    assert isinstance(new, Judge)
    assert torch.equal(new.wrong(ids), old.wrong(ids))
    assert torch.equal(new.light.wrong(ids), old.light.wrong(ids))
    assert (new.light_ is None) == (beside is None)
    assert new.facts() == old.facts()


def test_light_does_without_the_explainer_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = judging(beside="counts").explainer
    assert isinstance(judge, Judge)
    light = judge.light
    ids, gold = wrong_records(judging(beside="counts"))
    both = judge.wrong(ids)
    monkeypatch.setattr(CountsExplainer, "logits", None)
    alone = light.wrong(ids)
    assert not torch.equal(alone, both)
    assert (targets(1 - alone) == gold).double().mean() >= 0.95
    assert light.light is light
    assert judge.beside_ is not None, "and the judge itself is as it was"
    with pytest.raises(TypeError):
        judge.wrong(ids)


def test_put_beside_what_is_fitted_already() -> None:
    data = training_data()
    counts = CountsExplainer().fit(data)
    judge = Judge(beside="counts").put_beside(counts, data)
    assert judge.beside_ is counts
    ids, gold = wrong_records(judging())
    assert (targets(judge.likelihood(ids)) == gold).double().mean() >= 0.95
    with pytest.raises(InputError, match="beside is 'None', so the explainer must be one, got 'counts'"):
        Judge().put_beside(counts, data)


@pytest.mark.parametrize("exact", [None, 8])
def test_answers_do_not_depend_on_batch_or_order(exact: int | None, model: carat.Model, judge: Judge) -> None:
    """Also where a question looks at some of the records only."""
    asked = judge
    if exact is not None:
        asked = copy.copy(judge)
        asked.memory_ = copy.copy(judge.memory_)
        asked.memory_.exact, asked.memory_.limit = exact, 50
    ids, _ = wrong_records(model)
    ids = torch.cat([ids, model.vocabulary.encode(planted_table(150, seed=9).to_pylist())])
    ids[::7, 1], ids[::11, 2] = MISSING, UNSEEN
    whole = asked.likelihood(ids)
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(asked.likelihood(ids[order]), whole[order], rtol=1e-4, atol=1e-5, equal_nan=True)
    for size in (1, 7, 100):
        parts = torch.cat([asked.likelihood(part) for part in ids[:60].split(size)])
        torch.testing.assert_close(parts, whole[:60], rtol=1e-4, atol=1e-5, equal_nan=True)
