"""What people and programs write where nothing is known, in a dozen languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

_WORDS = """
n/a | n.a. | n.a | na | #n/a | #na | n / a | nan | null | (null) | <null> | [null] | nil | none | (none)
<none> | nothing
empty | (empty) | <empty> | blank | (blank) | <blank> | [blank] | unknown | unk | unkn | unknwn | undefined
undef | missing
unspecified | not available | not applicable | not known | not specified | not provided | not given
not stated
not recorded | not entered | not reported | no data | no value | no information | no info | no answer
no entry
tbd | t.b.d. | tba | tbc | to be determined | to be announced | to be confirmed | to be decided
#ref! | #value! | #name? | #num! | #null! | #div/0! | \\n | xxx | xxxx | xxxxx
unbekannt | keine angabe | keine angaben | k.a. | k. a. | k.a | nicht bekannt | nicht verfügbar
nicht zutreffend | entfällt
leer | fehlt | fehlend | ohne angabe | keine daten | unbestimmt
inconnu | inconnue | non renseigné | non renseignée | non disponible | non applicable | sans objet | s/o
néant | vide
aucun | aucune | n.d. | non communiqué | indéterminé | pas de données | manquant
desconocido | desconocida | ninguno | ninguna | no disponible | no aplica | no aplicable | sin datos
sin dato | s/d | vacío
sin información | no consta | no especificado | por definir | nulo
desconhecido | desconhecida | nenhum | nenhuma | não disponível | não informado | não aplicável
não se aplica | sem dados
vazio | sem informação | a definir
sconosciuto | sconosciuta | ignoto | nessuno | nessuna | non disponibile | non applicabile | non specificato
vuoto
nessun dato | mancante | da definire
onbekend | geen | niet beschikbaar | niet van toepassing | n.v.t. | nvt | leeg | geen gegevens | ontbreekt
nieznany | nieznana | nieznane | brak | brak danych | nie dotyczy | niedostępne | puste
okänd | okänt | saknas | ej tillämpligt | uppgift saknas | ukendt | ikke oplyst | ukjent | ikke tilgjengelig
ingen data
tuntematon | ei tiedossa | ei saatavilla | puuttuu | neznámý | neznámé | neuvedeno | není k dispozici
неизвестно | неизвестен | неизвестный | нет данных | н/д | не указано | не указан | не определено
отсутствует | пусто | невідомо
bilinmiyor | belirtilmemiş | boş | yok | veri yok | άγνωστο | δ/υ | μη διαθέσιμο
未知 | 无 | 無 | 暂无 | 暫無 | 不详 | 不詳 | 不明 | 没有 | 空白 | 未填写 | 无数据 | 不适用 | 未定 | なし
無し | 該当なし | 未記入 | 未入力
データなし | 없음 | 알 수 없음 | 알수없음 | 미상 | 해당없음 | 해당 없음 | 미정 | 데이터 없음
غير معروف | لا يوجد | غير متوفر | غير متاح | غير محدد | لا ينطبق | लागू नहीं | अज्ञात | उपलब्ध नहीं | לא ידוע
לא זמין | ไม่ทราบ | ไม่มีข้อมูล
không rõ | không có | tidak diketahui | tidak ada | tidak tersedia
"""
WORDS = frozenset(
    unicodedata.normalize("NFKC", word.strip()).casefold() for word in re.split(r"[|\n]", _WORDS) if word.strip()
)
"""Words for nothing, folded."""

_SIGNS = re.compile(r"[-–—―‐−_.?*/\\~…#:;,!|]+\Z")
_NINES = re.compile(r"-9+(?:\.[09]+)?\Z|9{4,}(?:\.[09]+)?\Z")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*\Z")


def is_placeholder(text: str, column_is_numeric: bool = False) -> bool:
    """Whether a text stands for nothing: `N/A`, `-`, `?`, `unknown`, `keine Angabe`, `不明`.

    A number stands for nothing only in a column of numbers, and only where it is conspicuous: nines alone, at least
    four of them or with a minus sign. For what is conspicuous in one column see `placeholders`.

    >>> [is_placeholder(text) for text in ("n/a", "--", "Unbekannt", "Nadia", "9999")]
    [True, True, True, False, False]
    >>> is_placeholder("9999", column_is_numeric=True)
    True
    """
    folded = unicodedata.normalize("NFKC", text).strip().casefold()
    if not folded:
        return False
    if folded in WORDS or folded.strip("()<>[]{}'\"* ") in WORDS or _SIGNS.match(folded):
        return True
    return column_is_numeric and _NINES.match(folded) is not None


def placeholders(values: Sequence[str], counts: np.ndarray, *, numeric: bool | None = None) -> np.ndarray:
    """Which values of a column stand for nothing; bool [V].

    In a column of numbers, nines alone count where they stand out: at least ten times the largest of the others. A
    column of codes of one length, such as zip codes, has them at that length (`99999`), and nobody else repeats them.

    Args:
        values: the unique values of the column.
        counts: how often each occurs, int [V].
        numeric: whether it is a column of numbers; None for: nine of ten cells that hold something are.
    """
    words = np.fromiter((is_placeholder(text) for text in values), dtype=bool, count=len(values))
    numbers = np.fromiter((_NUMBER.match(text.strip()) is not None for text in values), dtype=bool, count=len(values))
    counts = np.asarray(counts)
    if numeric is None:
        known = ~words
        numeric = bool(counts[known & numbers].sum() >= 0.9 * counts[known].sum()) and bool((known & numbers).any())
    if not numeric:
        return words
    nines = np.fromiter((_nines(text.strip()) for text in values), dtype=bool, count=len(values))
    others = numbers & ~nines & ~words
    sizes = np.array([abs(_value(text)) if other else 0.0 for text, other in zip(values, others, strict=True)])
    largest = sizes.max(initial=0.0)
    negative = any(text.strip().startswith("-") for text, other in zip(values, others, strict=True) if other)
    widths = {len(text.strip()) for text, other in zip(values, others, strict=True) if other}
    for place in np.flatnonzero(nines).tolist():
        text = values[place].strip()
        stands_out = _value(text) >= 10 * largest or (text.startswith("-") and not negative)
        words[place] |= stands_out or (widths == {len(text)} and len(text) >= 4)
    return words


def _nines(text: str) -> bool:
    return re.match(r"-?9{2,}(?:\.[09]+)?\Z", text) is not None or text == "-1"


def _value(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0
