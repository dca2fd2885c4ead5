"""Visits to hospitals in Greece: places and names in Greek letters, with codes, diagnoses in English and free notes.

A hospital's code, name, city, region, postcode and phone go together, a doctor has one hospital and one department, and
a code one diagnosis. Greek words lose their accents, get capitals or Latin letters that look the same; codes have wrong
digits, no dot, or a letter O; temperatures are in Fahrenheit, dates in other forms or impossible.
"""

from __future__ import annotations

import unicodedata
from functools import partial
from random import Random

from made_up.common import (
    BLANK,
    always,
    digit,
    evenly,
    listed,
    lower,
    often_first,
    phrases,
    records,
    swapped_for,
    typo,
    upper,
)
from made_up.twin import Slips, Spoil, Twin

COLUMNS = listed(
    "visit hospital_code hospital city region postcode phone doctor department icd10 diagnosis temperature date note"
)
CITIES = records(
    """Αθήνα | Αττική | 105; Πειραιάς | Αττική | 185; Θεσσαλονίκη | Κεντρική Μακεδονία | 546;
    Πάτρα | Δυτική Ελλάδα | 262; Ηράκλειο | Κρήτη | 712; Λάρισα | Θεσσαλία | 412; Βόλος | Θεσσαλία | 382;
    Ιωάννινα | Ήπειρος | 454; Χανιά | Κρήτη | 731; Ρόδος | Νότιο Αιγαίο | 851; Καλαμάτα | Πελοπόννησος | 241;
    Καβάλα | Ανατολική Μακεδονία και Θράκη | 653; Κοζάνη | Δυτική Μακεδονία | 501; Κέρκυρα | Ιόνια Νησιά | 491;
    Αλεξανδρούπολη | Ανατολική Μακεδονία και Θράκη | 681; Σέρρες | Κεντρική Μακεδονία | 621;
    Λαμία | Στερεά Ελλάδα | 351; Χαλκίδα | Στερεά Ελλάδα | 341; Τρίκαλα | Θεσσαλία | 421;
    Ξάνθη | Ανατολική Μακεδονία και Θράκη | 671; Δράμα | Ανατολική Μακεδονία και Θράκη | 661;
    Αγρίνιο | Δυτική Ελλάδα | 301; Μυτιλήνη | Βόρειο Αιγαίο | 811; Ρέθυμνο | Κρήτη | 741;
    Τρίπολη | Πελοπόννησος | 221; Ναύπλιο | Πελοπόννησος | 211"""
)
"""A city, its region, and how its postcodes begin."""
MEN = listed("Γιώργος Δημήτρης Κώστας Νίκος Παναγιώτης Μιχάλης Χρήστος Αντώνης Σπύρος Ηλίας Θανάσης Βασίλης")
WOMEN = listed(
    "Μαρία Ελένη Κατερίνα Βασιλική Σοφία Αγγελική Γεωργία Δέσποινα Ευαγγελία Ιωάννα Φωτεινή Χριστίνα Αναστασία"
)
SURNAMES = listed(
    "Παπαδόπουλος Νικολαΐδης Γεωργίου Παππάς Δημητρίου Κωνσταντίνου Αντωνίου Βασιλείου Οικονόμου Μακρής Αλεξίου "
    "Καραγιάννης Σταματόπουλος Ιωαννίδης Λαμπρόπουλος Σαββίδης Χατζής Τσιρίγος Μαυρίδης Φραγκούλης Ζερβός Ρήγας"
)
KINDS = phrases("Γενικό Νοσοκομείο, Πανεπιστημιακό Νοσοκομείο, Κλινική, Κέντρο Υγείας")
DIAGNOSES = records(
    """I10 | Essential hypertension | Cardiology; E11.9 | Type 2 diabetes without complications | Endocrinology;
    J45.9 | Asthma, unspecified | Pulmonology; J18.9 | Pneumonia, unspecified organism | Pulmonology;
    I48.0 | Paroxysmal atrial fibrillation | Cardiology; M54.5 | Low back pain | Orthopaedics;
    I21.4 | Non-ST elevation myocardial infarction | Cardiology; N39.0 | Urinary tract infection | Nephrology;
    K35.8 | Acute appendicitis | Surgery; K80.2 | Gallstones without cholecystitis | Surgery;
    S72.0 | Fracture of neck of femur | Orthopaedics; G43.9 | Migraine, unspecified | Neurology;
    I63.9 | Cerebral infarction | Neurology; F32.1 | Moderate depressive episode | Psychiatry;
    C50.9 | Malignant neoplasm of breast | Oncology; C34.9 | Malignant neoplasm of lung | Oncology;
    N18.3 | Chronic kidney disease, stage 3 | Nephrology; D50.9 | Iron deficiency anaemia | Haematology;
    A09 | Infectious gastroenteritis | Internal medicine; E78.5 | Hyperlipidaemia | Endocrinology;
    H25.9 | Age-related cataract | Ophthalmology; Z51.1 | Chemotherapy session | Oncology;
    O80 | Normal delivery | Obstetrics"""
)
"""A code, what it means, and the department for it."""
DEPARTMENTS = sorted({department for _, _, department in DIAGNOSES})
NOTES = phrases(
    "stable, review in {weeks} weeks; seen by {who}, no change to medication; pt. refuses admission; bloods pending; "
    "referred back to GP; BP {upper}/{lower}, continue ramipril {dose} mg; for theatre on {who}; needs interpreter; "
    "allergic to penicillin; f/u phone call, doing well; discharged home w/ {weeks} days of abx; family informed; "
    "ECG: sinus rhythm, rate {upper}; wound clean and dry; awaiting MRI ({weeks} wks); chest clear, afebrile; ; ; ",
    ";",
)
WHO = ["Dr A.", "the registrar", "Monday", "05/11"]
HOSPITALS, DOCTORS = 34, 160
LOOKALIKES = str.maketrans("ΑοΚΒ", "AoKB")


def _hospital(draw: Random, number: int) -> list[str]:
    """Its code, name, city, region, postcode and phone."""
    city, region, start = often_first(draw, CITIES, 0.7)
    saint = f"«{draw.choice([*(f'Άγιος {name}' for name in MEN), *(f'Αγία {name}' for name in WOMEN)])}»"
    name = f"{draw.choice(KINDS)} {city if draw.random() < 0.4 else saint}"
    phone = f"2{draw.randrange(10, 900):03d}-{draw.randrange(10**6):06d}"
    code = str(10_010 + number * 37 + draw.randrange(30))
    return [code, name, city, region, f"{start}{draw.randrange(1, 99):02d}", phone]


def _visit(draw: Random, number: int, doctor: str, department: str, hospital: list[str]) -> list[object]:
    own = [each for each in DIAGNOSES if each[2] == department]
    code, diagnosis, _ = draw.choice(own) if draw.random() < 0.85 else often_first(draw, DIAGNOSES, 0.8)
    told = {"weeks": draw.randrange(1, 12), "who": draw.choice(WHO), "dose": draw.choice([2.5, 5, 10])}
    note = draw.choice(NOTES).format(**told, upper=draw.randrange(60, 190), lower=draw.randrange(50, 110))
    date = f"2023-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}"
    return [number, *hospital, doctor, department, code, diagnosis, f"{draw.gauss(36.9, 0.6):.1f}", date, note]


def _without_accents(_: Random, value: str) -> str:
    return "".join(mark for mark in unicodedata.normalize("NFD", value) if not unicodedata.combining(mark))


def _impossible(draw: Random, value: str) -> str:
    year, month, day = value.split("-")
    return f"{year}-02-{draw.randrange(30, 39)}" if month == "02" else f"0{year[1:]}-{month}-{day}"


def _day_first(draw: Random, value: str) -> str:
    year, month, day = value.split("-")
    return draw.choice([f"{day}/{month}/{year}", f"{day}.{month}.{year[2:]}"])


GREEK: list[tuple[float, str, Spoil]] = [
    (0.02, "greek typo", partial(typo, letters="αβγδεζηθικλμνξοπρστυφχψω")),
    (0.01, "greek accents lost", _without_accents),
    (0.006, "latin lookalike", lambda _, value: value.translate(LOOKALIKES)),
    (0.006, "greek upper", upper),
    (0.008, "placeholder", lambda draw, _: draw.choice(["-", "N/A", "άγνωστο", "?", ""])),
]
SLIPS: Slips = {
    "city": [*GREEK, (0.015, "city mismatch", lambda draw, _: draw.choice(CITIES)[0])],
    "region": GREEK,
    "hospital": GREEK,
    "doctor": GREEK,
    "postcode": [
        (0.03, "postcode digit", digit),
        (0.015, "postcode space", lambda _, value: f"{value[:3]} {value[3:]}"),
    ],
    "hospital_code": [(0.03, "hospital code digit", digit)],
    "phone": [
        (0.01, "phone digit", digit),
        (0.02, "phone format", lambda draw, value: draw.choice([value.replace("-", ""), f"+30 {value}"])),
    ],
    "icd10": [
        *evenly(0.0225, "icd", no_dot=swapped_for(".", ""), case=lower, digit=digit),
        (0.0075, "icd O for 0", lambda _, value: value.replace("0", "O").replace("1", "l")),
    ],
    "diagnosis": [
        *evenly(0.0225, "diagnosis", typo=typo, mismatch=lambda draw, _: draw.choice(DIAGNOSES)[1], blank=BLANK),
        (0.0075, "placeholder", always("unknown")),
    ],
    "department": evenly(0.03, "department", typo=typo, case=upper, us_spelling=swapped_for("ae", "e"), blank=BLANK),
    "temperature": [
        *evenly(0.008, "temp", comma=swapped_for(".", ","), scale=swapped_for(".", "")),
        *evenly(0.008, "temp", placeholder=always("999"), blank=BLANK),
        (0.004, "temp fahrenheit", lambda _, value: f"{float(value) * 1.8 + 32:.1f}"),
    ],
    "date": [
        (0.015, "date format", _day_first),
        (0.0075, "date placeholder", always("1900-01-01")),
        (0.0075, "date impossible", _impossible),
    ],
}


def make(draw: Random, rows: int) -> Twin:
    """Visits to doctors, some of whom see many more people than others."""
    hospitals: dict[str, list[str]] = {}
    while len(hospitals) < HOSPITALS:
        hospital = _hospital(draw, len(hospitals))
        hospitals.setdefault(hospital[1], hospital)
    doctors = []
    for _ in range(DOCTORS):
        name, works = f"{draw.choice([*MEN, *WOMEN])} {draw.choice(SURNAMES)}", draw.choice([*hospitals.values()])
        doctors.append((name, draw.choice(DEPARTMENTS), works))
    numbers = draw.sample(range(10**7, 10**8), rows)
    twin = Twin(COLUMNS, [_visit(draw, number, *often_first(draw, doctors, 0.5)) for number in numbers], draw)
    twin.spoil(SLIPS)
    return twin
