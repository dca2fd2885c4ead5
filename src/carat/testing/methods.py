"""What every method that finds counterfactuals must do, baselines among them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import torch

from carat.data import FIRST, MISSING
from carat.jobs import recourse_result
from carat.recourse import Constraints, Costs, Outcome, Settings
from carat.results import RecourseResult
from carat.testing.asking import Answer, Asking, K, MethodFactory, Records, questions, same_answers
from carat.testing.check import THREADS, Check, at_once, check, check_where, close, require, run_all
from carat.testing.planted import DOMAINS, GROUPS, corrupted, normal_records, record, twice_corrupted


def check_method(
    factory: str | MethodFactory, *, needs: Iterable[str] = (), context: bool = True, detector: Any = "counts"
) -> None:
    """Run every check on a method; the first that fails raises an `AssertionError` with its name and the reason.

    Args:
        factory: a name, or what makes a method of a model's parts.
        needs: what it needs of them; see `carat.recourse.parts.NEEDS`. The parts that it gets have nothing else.
        context: False for a method whose best repair need not be the one that fits the rest of the record.
        detector: the detector among the parts, as `carat.fit` takes it.
    """
    run_all(method_checks(factory, needs=needs, context=context, detector=detector))


def method_checks(
    factory: str | MethodFactory, *, needs: Iterable[str] = (), context: bool = True, detector: Any = "counts"
) -> list[Check]:
    """The same checks one by one; a model is fitted when the first of them is called, and once for all methods."""
    return MethodChecks(factory, needs=needs, context=context, detector=detector).checks()


class MethodChecks(Asking):
    """The checks of one method."""

    @check
    def is_a_method(self) -> None:
        name = getattr(self.method, "name", None)
        require(isinstance(name, str) and name, "it has no `name`, which results would show")
        require(self.called in (None, name), f"the registry calls it '{self.called}', and it calls itself '{name}'")
        require(callable(getattr(self.method, "find", None)), f"{self.method!r} has no method `find`")

    @check
    def gives_an_outcome_of_the_right_shape(self) -> None:
        for count, k in ((0, 3), (1, 1), (9, 7)):
            _well_formed(self.ask(questions()[:count], k=k), k)

    @check
    def those_that_exist_come_first(self) -> None:
        mask = self.answer.outcome.mask
        require(not (mask[:, 1:] & ~mask[:, :-1]).any(), "a counterfactual that exists comes after one that does not")

    @check
    def only_known_entities_are_put_there(self) -> None:
        wrong = self.answer.changed & ~self.answer.known
        require(not wrong.any(), "a change puts an id there that is no entity: reserved, or beyond the last one")

    @check
    def every_counterfactual_is_another_record(self) -> None:
        same = self.answer.outcome.mask & ~self.answer.changed.any(dim=2)
        require(not same.any(), "a counterfactual is the very record that was asked about")

    @check
    def no_counterfactual_comes_twice(self) -> None:
        for found, mask in zip(self.answer.outcome.counterfactuals, self.answer.outcome.mask, strict=True):
            listed = found[mask].tolist()
            require(len({tuple(each) for each in listed}) == len(listed), f"a counterfactual comes twice: {listed}")

    @check
    def scores_are_the_detectors(self) -> None:
        found = self.answer.outcome
        score = self.parts.detector.score(found.counterfactuals[found.mask])
        same = close(found.score[found.mask], score, tolerance=1e-4)
        require(same, "the scores are not those that the detector gives the counterfactuals")

    @check
    def missing_entities_stay_missing(self) -> None:
        wrong = corrupted()[0][3]
        holes: Records = [{**wrong, "Port": None}, {**wrong, "Good": None, "Carrier": None}, {"Port": "Port-1a"}]
        answer = self.ask(holes)
        _well_formed(answer, K)
        filled = answer.changed & (answer.ids == MISSING)[:, None]
        require(not filled.any(), "a missing entity is no mistake, and must stay missing")

    @check
    def unseen_entities_are_no_reason_to_fail(self) -> None:
        wrong, good = corrupted()[0][3], normal_records()[1]
        strangers: Records = [
            {**good, "Port": "Atlantis"},
            {**wrong, "Port": "Atlantis", "Good": None, "Carrier": None},
            dict.fromkeys(DOMAINS, "Atlantis"),
        ]
        answer = self.ask(strangers)
        _well_formed(answer, K)
        require(not (answer.changed & ~answer.known).any(), "beside an unseen entity, a change puts no entity there")

    @check
    def a_reason_where_nothing_was_found(self) -> None:
        for answer in (
            self.ask([dict.fromkeys(DOMAINS)]),
            self.ask(corrupted()[0][:1], constraints=Constraints(immutable=DOMAINS)),
        ):
            require(not answer.outcome.mask.any(), "nothing could change, and yet a counterfactual was found")
            require(bool(answer.outcome.reasons[0]), "nothing was found, and no reason is given")

    @check
    def results_can_be_read(self) -> None:
        """Ranks, percentiles and changes, the counterfactuals scored again as text, and an explanation in words."""
        records = questions()
        result = self._result(records)
        rows = result.to_arrow().to_pylist()
        scored = self.model.score(_frame(rows)).to_pylist()
        for row, again in zip(rows, scored, strict=True):
            before, after = records[row["record"]], (row["score"], again["score"])
            require(abs(after[0] - after[1]) < 1e-4 * max(1, abs(after[0])), f"as text it scores other: {after}")
            require(row["valid"] == (row["score"] >= self.model.threshold_score), f"valid is wrong in {row}")
            share = 100 * float((self.model.reference <= row["score"]).double().mean())
            require(abs(row["percentile"] - share) < 1e-6, f"percentile is wrong in {row}")
            changed = [name for name in DOMAINS if row[name] != before[name]]
            require(bool(changed) and row["changed"] == changed, f"`changed` must be {changed}, got {row['changed']}")
        numbers = [row["record"] for row in rows]
        ranks = [numbers[:place].count(number) + 1 for place, number in enumerate(numbers)]
        require(numbers == sorted(numbers), "the counterfactuals are not in the order of their records")
        require([row["rank"] for row in rows] == ranks, "the ranks of a record are not 1, 2, 3, …")
        for number, count in enumerate(line["count"] for line in result.records):
            require(count == numbers.count(number), f"record {number} is said to have {count} counterfactuals")
            require(not count or "1. " in str(result.explain(number)), f"record {number} is not explained in words")

    @check
    def immutable_domains_stay(self) -> None:
        answer = self.ask(questions(), constraints=Constraints(immutable=["Port", "Buyer"]))
        require(not answer.changed[..., [0, 3]].any(), "a domain was changed that is immutable")

    @check
    def forbidden_entities_are_not_put_there(self) -> None:
        allowed = [f"Good-{group}b" for group in range(GROUPS)]
        forbidden = [f"Port-{group}a" for group in (0, 1, 2)]
        rules = Constraints(allowed={"Good": allowed}, forbidden={"Port": forbidden})
        for _, texts, changed in self.ask(questions(), constraints=rules).texts():
            require("Good" not in changed or texts["Good"] in allowed, f"{texts['Good']} is not among the allowed")
            require("Port" not in changed or texts["Port"] not in forbidden, f"{texts['Port']} is forbidden")

    @check
    def forbidden_pairs_do_not_meet(self) -> None:
        pairs = [{"Port": f"Port-{g}a", "Good": f"Good-{g}{letter}"} for g in range(GROUPS) for letter in "abc"]
        for _, texts, changed in self.ask(questions(), constraints=Constraints(forbidden_pairs=pairs)).texts():
            for pair in pairs:
                met = pair.items() <= texts.items() and bool(set(pair) & set(changed))
                require(not met, f"a change brings about the forbidden pair {' and '.join(pair.values())}")

    @check
    def max_changes_is_kept_to(self) -> None:
        answer = self.ask([*questions(), *twice_corrupted()[6:8]], constraints=Constraints(max_changes=1))
        require((answer.changed.sum(dim=2) <= 1).all(), "more domains were changed than max_changes permits")

    @check
    def min_support_is_kept_to(self) -> None:
        least = 5
        rules, offsets = Constraints(min_support=least), self.parts.vocabulary.offsets
        answer = self.ask(questions(), constraints=rules)
        rows, kept = answer.outcome.counterfactuals + offsets, ~answer.changed & (answer.ids >= FIRST)[:, None]
        for new in range(len(DOMAINS)):
            for old in range(len(DOMAINS)):
                together = self.parts.pairs.count(rows[..., new], rows[..., old])
                asked = answer.changed[..., new] & kept[..., old]
                require((together[asked] >= least).all(), f"a new entity came with a kept one less than {least} times")

    @check
    def constraints_hold_together(self) -> None:
        rules = Constraints(immutable=["Port"], forbidden={"Carrier": ["Carrier-0a"]}, max_changes=1)
        for _, texts, changed in self.ask(questions(), constraints=rules).texts():
            kept = len(changed) == 1 and changed != ["Port"]
            kept &= "Carrier" not in changed or texts["Carrier"] != "Carrier-0a"
            require(kept, f"of three constraints at once, one is broken: {', '.join(changed)} became {texts}")

    @check
    def costs_are_told(self) -> None:
        answer = self.ask(questions(), constraints=Constraints(cost=Costs(change=1.0, domains={"Port": 2.0})))
        cost, mask = answer.outcome.cost, answer.outcome.mask
        require(cost is not None, "costs were given, and the outcome has none")
        assert cost is not None
        wanted = (answer.changed * torch.tensor([3.0, 1.0, 1.0, 1.0])).sum(dim=2)
        require(close(cost[mask], wanted[mask]), "the cost is not the sum over the changes")

    @check
    def other_settings_are_no_reason_to_fail(self) -> None:
        some: list[dict[str, Any]] = [{"diversity": 0.6}, {"prefer": 0.0}, {"prefer": 1.0}, {"neighbours": 1}]
        for options in (*some, {"budget": 5}, {"seconds": 1e-9}):
            answer = self.ask(questions()[-4:], **options)
            _well_formed(answer, K)
            good = answer.changed.any(dim=2) == answer.outcome.mask
            require(good.all() and answer.known[answer.changed].all(), f"with {options}, what is found is no repair")

    @check
    def same_again(self) -> None:
        first, second = self.ask(questions(), diversity=0.3), self.ask(questions(), diversity=0.3)
        require(same_answers(first.outcome, second.outcome), "the same question gets another answer")
        third = self.ask(questions(), self.made(), diversity=0.3)
        require(same_answers(first.outcome, third.outcome), "a method made of the same parts gives another answer")

    @check
    def rows_are_independent(self) -> None:
        """Alone or among others: the same counterfactuals, but that two equal ones may change places."""
        records: Records = [
            *questions(),
            record(Port=0, Good=2, Carrier=3, Buyer=5),
            {**normal_records()[1], "Port": "Atlantis"},
            {"Port": "Port-1a", "Good": "Good-3a"},
        ]
        for diversity in (0.0, 0.6):
            whole = self.ask(records, diversity=diversity).outcome
            for row in range(len(records)):
                _same_alone(self.ask(records[row : row + 1], diversity=diversity).outcome, whole, row, self.context)

    @check
    def a_known_score_makes_no_difference(self) -> None:
        ids = self.answer.ids
        told = self.method.find(ids, Settings(k=K), self.parts.detector.score(ids))
        require(same_answers(told, self.answer.outcome), "told the scores of the records, it gives another answer")

    @check
    def records_are_left_alone(self) -> None:
        ids = self.encode(questions())
        self.ask(ids)
        require(torch.equal(ids, self.encode(questions())), "find has changed the ids that it was given")

    @check
    def threads_do_not_disturb_each_other(self) -> None:
        ids = self.encode(questions())
        batches = [ids.roll(shift, 0)[: len(ids) - shift] for shift in range(THREADS)]
        alone, together = [self.ask(batch) for batch in batches], at_once(self.ask, batches)
        same = all(same_answers(mine.outcome, theirs.outcome) for mine, theirs in zip(alone, together, strict=True))
        require(same, "several threads at once get other answers than one after the other")

    @check_where(lambda suite: suite.context)
    def the_best_repairs_the_planted_corruption(self) -> None:
        records, where = corrupted()
        best: dict[int, tuple[dict[str, str | None], list[str]]] = {}
        for number, texts, changed in self.ask(records, k=3).texts():
            best.setdefault(number, (texts, changed))
        right = [
            changed == [where[number]] and str(texts[where[number]]).startswith(f"{where[number]}-{number // 4}")
            for number, (texts, changed) in best.items()
        ]
        enough = sum(right) >= 0.8 * len(records)
        require(enough, f"the first counterfactual mends what was corrupted in {sum(right)} of {len(records)} records")

    def _result(self, records: Records) -> RecourseResult:
        return recourse_result(self.model, _frame(records), Settings(k=K), method=self.method, all=True)


def _frame(records: Records) -> pa.Table:
    return pa.table({name: pa.array([row.get(name) for row in records], pa.string()) for name in DOMAINS})


def _well_formed(answer: Answer, k: int) -> None:
    found, (n, m) = answer.outcome, answer.ids.shape
    for name, shape, dtype in (
        ("counterfactuals", (n, k, m), torch.int64),
        ("mask", (n, k), torch.bool),
        ("score", (n, k), torch.float32),
        ("exhausted", (n,), torch.bool),
        ("likelihood", (n, m), torch.float32),
    ):
        got = getattr(found, name)
        right = tuple(got.shape) == shape and got.dtype == dtype
        require(right, f"{name} must be {dtype} of shape {shape}, got {got.dtype} of shape {tuple(got.shape)}")
    require(found.cost is None, "no costs were given, so the cost must be None")
    require(found.score[found.mask].isfinite().all(), "a counterfactual has no finite score")
    require(len(found.reasons) == n, f"{n} records must have {n} reasons, text or None; got {len(found.reasons)}")
    for answered, reason in zip(found.mask.any(dim=1).tolist(), found.reasons, strict=True):
        require(answered or bool(reason), "nothing was found for a record, and no reason is given")


def _same_alone(alone: Outcome, whole: Outcome, row: int, strict: bool) -> None:
    """One record's outcome against its row of a batch's; with `strict`, the best must be the very same."""
    mask, complaint = alone.mask[0], f"record {row} alone gets other counterfactuals than among others"
    require(torch.equal(mask, whole.mask[row]), complaint)
    require(close(alone.score[0, mask], whole.score[row, mask], tolerance=1e-4), complaint)
    mine, theirs = alone.counterfactuals[0, mask].tolist(), whole.counterfactuals[row, mask].tolist()
    # Two of the same score may change places in the last bit, at the end of the list and elsewhere.
    require(sum(each in theirs for each in mine) >= len(mine) - 1, complaint)
    require(not strict or mine[:1] == theirs[:1], f"record {row} alone has another best than among others")
