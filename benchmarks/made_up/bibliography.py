"""Articles of medical journals, as several databases export them.

Name, abbreviation, ISSN and language of an article follow from its journal, and its volume from journal and year. Names
are cut off, garbled, or given as abbreviations; page ranges are swapped or halved, issues read as months, dates written
in two forms, languages spelled out, and every database leaves something blank.
"""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

from made_up.common import BLANK, digit, listed, often_first, phrases, swapped_for, typo
from made_up.twin import Slips, Twin

COLUMNS = listed("id title journal abbreviation issn volume issue pages language created")
JOURNALS = 230
SERIES = phrases(
    "Journal of=J, International Journal of=Int J, Annals of=Ann, European Journal of=Eur J, Archives of=Arch, "
    "Scandinavian Journal of=Scand J, American Journal of=Am J, Revista Española de=Rev Esp, Zeitschrift für=Z, "
    "BMC=BMC, Current Opinion in=Curr Opin, The Canadian Journal of=Can J, Advances in=Adv"
)
FIELDS = phrases(
    "Cardiology, Surgery, Neurology, Oncology, Paediatrics, Epidemiology, Dermatology, Psychiatry, Radiology, "
    "Nutrition, Tropical Medicine, Public Health, Pharmacology, Anaesthesia, Obstetrics, Infection, Rheumatology, "
    "Urology, Hepatology, Gériatrie, Médecine Interne, Ökologie, Nursing, Respiratory Research, Bone Metabolism, "
    "Medical Education, Health Economics, Clinical Nursing, Vascular Biology, Sleep"
)
MANNERS = listed(
    "Long-term Randomized Prospective Short-term Comparative Early Familial Chronic Acute Recurrent Severe "
    "Postoperative Low-dose Perinatal Community-based"
)
MATTERS = phrases(
    "outcomes, effects, risk factors, prevalence, management, mortality, diagnosis, treatment, predictors, "
    "quality of life, cost-effectiveness, safety, screening, incidence"
)
ILLS = phrases(
    "asthma, hip fracture, type 2 diabetes, hepatitis C, malaria, breast cancer, stroke, depression, pre-eclampsia, "
    "low back pain, tuberculosis, obesity, sepsis, atrial fibrillation, schizophrenia, COPD, HIV infection, epilepsy, "
    "osteoporosis, melanoma, chronic kidney disease"
)
PEOPLE = phrases(
    "in children, in older adults, in rural Kenya, in primary care, after surgery, in pregnant women, "
    "in intensive care units, in adolescents, in a Swedish cohort, in northern India, among nurses, in veterans"
)
STUDIES = ["", "", "", ": a systematic review", ": a cohort study", ": results of a multicentre trial", ": protocol"]
ISSUES = phrases("Pt 1,Suppl,3-4,1-2,Spec No,Suppl 1")
LANGUAGES = {"eng": "English", "spa": "Spanish", "ger": "German", "fre": "French"}


class Journal(NamedTuple):
    """What a journal is called, how it is told from others, and when it began."""

    name: str
    abbreviation: str
    issn: str
    language: str
    began: int


def _journal(draw: Random) -> Journal:
    long, short = draw.choice(SERIES).split("=")
    more = [f" and {draw.choice(FIELDS)}", " & Therapeutics", " (London, England)", ": Official Journal", " Research"]
    about = draw.choice(FIELDS) + ("" if draw.random() < 0.6 else draw.choice(more))
    words = [part[: draw.choice([3, 4, 5])] for part in re.findall(r"\w+", about) if part != "and"]
    digits = f"{draw.randrange(10**7):07d}"
    check = -sum(int(mark) * weight for mark, weight in zip(digits, range(8, 1, -1), strict=True)) % 11
    spoken = {"Revista": "spa", "Zeitschrift": "ger"}.get(long.split()[0])
    language = spoken or (draw.choice(listed("fre ita por jpn chi")) if draw.random() < 0.04 else "eng")
    issn = f"{digits[:4]}-{digits[4:]}{'X' if check == 10 else check}"
    return Journal(f"{long} {about}", " ".join([short, *words]), issn, language, draw.randrange(1950, 2005))


def _pages(draw: Random) -> str:
    first = draw.randrange(1, 1500)
    start, end = str(first), str(first + draw.randrange(2, 16))
    style = draw.random()
    if style > 0.96:
        return draw.choice([f"e{start}", f"S{start}-S{end}"])
    if style < 0.5 and len(start) == len(end) > 2:
        # Half of the databases leave out what the last page shares with the first: 1123-9.
        end = next(end[at:] for at in range(len(end)) if start[at] != end[at])
    return f"{start}-{end}"


def _article(draw: Random, number: int, journal: Journal) -> list[object]:
    year = max(int(2015 - draw.expovariate(1 / 6)), journal.began + 1)
    matter = draw.choice(MATTERS) + (f" and {draw.choice(MATTERS)}" if draw.random() < 0.12 else "")
    title = f"{draw.choice(MANNERS)} {matter} of {draw.choice(ILLS)} {draw.choice(PEOPLE)}{draw.choice(STUDIES)}"
    title += "." if draw.random() < 0.1 else ""
    issue = str(draw.randrange(1, 13)) if draw.random() < 0.9 else draw.choice(ISSUES)
    language = journal.language if draw.random() < 0.97 else "eng"
    created = f"{year}-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}"
    of_journal = [journal.name, journal.abbreviation, journal.issn, year - journal.began]
    return [number, title, *of_journal, issue, _pages(draw), language, created]


def _cut(draw: Random, value: str) -> str | None:
    return value[: draw.randrange(14, len(value) - 4)].rstrip() if len(value) > 22 else None


def _garbled(_: Random, value: str) -> str:
    return value.encode("utf-8").decode("cp1252")


def _month(draw: Random, _: str) -> str:
    return f"{draw.choice(listed('Jan Feb Mar Apr May Jun'))}-{draw.randrange(1, 13):02d}"


def _pages_swapped(_: Random, value: str) -> str | None:
    return re.sub(r"(.+)-(.+)", r"\2-\1", value) if value[0].isdigit() else None


def _pages_half(_: Random, value: str) -> str | None:
    return value.partition("-")[0] if value[0].isdigit() else None


def _american(_: Random, value: str) -> str:
    year, month, day = value.split("-")
    return f"{int(month)}/{int(day)}/{year[2:]}"


def _day_first(_: Random, value: str) -> str:
    year, month, day = value.split("-")
    return f"{year}-{day}-{month}"


def _language(_: Random, value: str) -> str:
    return LANGUAGES.get(value, "unk")


SLIPS: Slips = {
    "journal": [(0.05, "blank", BLANK), (0.05, "truncated", _cut), (0.27, "mojibake", _garbled), (0.02, "typo", typo)],
    "abbreviation": [(0.06, "blank", BLANK), (0.03, "typo", typo)],
    "issn": [(0.06, "blank", BLANK), (0.05, "issn digit", digit), (0.03, "issn no hyphen", swapped_for("-", ""))],
    "volume": [(0.03, "blank", BLANK), (0.01, "volume digit", digit)],
    "issue": [(0.08, "blank", BLANK), (0.02, "issue as month", _month)],
    "pages": [(0.05, "pages swapped", _pages_swapped), (0.03, "pages half", _pages_half), (0.04, "blank", BLANK)],
    "language": [(0.05, "blank", BLANK), (0.03, "language spelled out", _language)],
    "created": [(0.14, "date format", _american), (0.03, "day month swapped", _day_first)],
    "title": [(0.03, "title typo", typo)],
}


def make(draw: Random, rows: int) -> Twin:
    """Articles of a few hundred journals, some of which have many more articles than others."""
    journals: dict[str, Journal] = {}
    while len(journals) < JOURNALS:
        journal = _journal(draw)
        journals.setdefault(journal.name, journal)
    numbers = draw.sample(range(10_000, 1_010_000), rows)
    twin = Twin(
        COLUMNS, [_article(draw, number, often_first(draw, [*journals.values()], 0.8)) for number in numbers], draw
    )
    for row, cells in enumerate(twin.right):
        if draw.random() < 0.02:
            twin.put(row, "journal", cells[COLUMNS.index("abbreviation")], "abbreviation as name")
    twin.spoil(SLIPS)
    return twin
