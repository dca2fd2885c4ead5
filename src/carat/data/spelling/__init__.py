"""How the values of a column are written: shapes, variants, near spellings, affixes, words for nothing."""

from carat.data.spelling.affixes import Affixes, affixes
from carat.data.spelling.amounts import amounts
from carat.data.spelling.codes import codes
from carat.data.spelling.decoded import GARBLED, decoded
from carat.data.spelling.figures import figures
from carat.data.spelling.moments import moments
from carat.data.spelling.near import Near, bound, nearest
from carat.data.spelling.placeholders import is_placeholder, placeholders
from carat.data.spelling.shapes import shape, shapes, unsigned
from carat.data.spelling.typed import distance, typed_as
from carat.data.spelling.variants import LONGEST, key, sorted_key

__all__ = [
    "LONGEST",
    "shape",
    "shapes",
    "unsigned",
    "key",
    "sorted_key",
    "nearest",
    "Near",
    "bound",
    "distance",
    "typed_as",
    "affixes",
    "Affixes",
    "moments",
    "figures",
    "amounts",
    "codes",
    "decoded",
    "GARBLED",
    "is_placeholder",
    "placeholders",
]
