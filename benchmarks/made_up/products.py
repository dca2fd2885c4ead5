"""A shop's catalogue: variants of articles by size and colour, with brands that have a country and a few categories.

Brands and categories are written in another case or misspelt, sizes in another unit or with the unit run together,
dropped or spelled out, prices with currencies and decimal commas, article numbers (EAN) as a spreadsheet shows them.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from made_up.common import BLANK, digit, evenly, listed, lower, often_first, phrases, records, swapped_for, typo, word
from made_up.twin import Slips, Twin

COLUMNS = listed("sku brand model category color size price ean country")
BRANDS = 140


class Category(NamedTuple):
    """A kind of article: the line of business that sells it, its unit, and the sizes it comes in."""

    business: str
    unit: str
    sizes: list[str]


CATEGORIES = {
    name: Category(business, unit, listed(sizes))
    for name, business, unit, sizes in records(
        """Shampoo | care | ml | 200 250 300 400 500 750; Conditioner | care | ml | 200 250 300 400;
        Body Lotion | care | ml | 200 250 400 500; Ground Coffee | drink | g | 250 340 500 1000;
        Whole Bean Coffee | drink | g | 250 500 1000; Green Tea | drink | ct | 20 25 40 100;
        Olive Oil | food | ml | 250 500 750 1000; Craft Beer | drink | oz | 12 16 22;
        Soda | drink | oz | 8.4 12 16.9 20; Dish Soap | house | ml | 500 750 900;
        Laundry Detergent | house | oz | 46 50 92 100 150;
        T-Shirt | sport | | XS S M L XL XXL; Running Shoes | sport | EU | 38 39 40 41 42 43 44 45;
        Backpack | sport | l | 15 20 22 28 35 45; Water Bottle | sport | ml | 500 600 750 1000;
        Dog Food | pet | kg | 1.5 3 7.5 12 15; Cat Litter | pet | kg | 5 7.5 10;
        Chocolate Bar | food | g | 45 80 100 200; Cereal | food | g | 375 500 750; Notebook | office | | A4 A5 A6"""
    )
}
BUSINESSES = sorted({category.business for category in CATEGORIES.values()})
COLORED = {"sport", "office"}
COLORS = phrases(
    "Black, White, Navy, Red, Grey, Forest Green, Royal Blue, Beige, Pink, Charcoal, Olive, Light Blue, Burgundy, "
    "Off White, Turquoise"
)
COUNTRIES = phrases(
    "Germany, United Kingdom, Italy, France, USA, China, Netherlands, Viet Nam, Türkiye, Spain, Portugal, Sweden"
)
PREFIXES = dict(zip(COUNTRIES, listed("40 50 80 30 00 69 87 89 86 84 56 73"), strict=True))
"""How the article numbers of each country begin."""
ALSO = {"USA": "United States", "United Kingdom": "UK", "Viet Nam": "Vietnam", "Türkiye": "Turkey"}
ALSO |= {"Germany": "Deutschland", "Netherlands": "The Netherlands"}
"""What else countries are called; the others are written in capitals."""
MANNERS = phrases(
    "Classic, Sensitive, Original, Pro, Dark Roast, Ultra, Fresh, Trail, Daily, Premium, Organic, Light, Max, Zero, "
    "Repair, Vanilla, Lemon, Mint, Extra Virgin, Urban"
)


class Brand(NamedTuple):
    """A brand, what it sells, where it is from, and its part of an article number."""

    name: str
    categories: list[str]
    country: str
    number: str


def _brand(draw: Random) -> Brand:
    plain = word(draw)
    pair, titled = f"{plain} & {word(draw, 1)}", f"{draw.choice(listed('Casa El Dr. Alpine Nordic Old'))} {plain}"
    firm = word(draw, 1) + draw.choice(["Co", "Labs", " Bros.", " Foods"])
    business = draw.choice(BUSINESSES)
    sold = [name for name, category in CATEGORIES.items() if category.business == business]
    sold = draw.sample(sold, draw.randrange(1, len(sold) + 1))
    name = draw.choice([plain, pair, titled, plain.upper(), firm])
    return Brand(name, sold, draw.choice(COUNTRIES), f"{draw.randrange(10**5):05d}")


def _ean(draw: Random, brand: Brand) -> str:
    digits = f"{PREFIXES[brand.country]}{brand.number}{draw.randrange(10**5):05d}"
    check = -sum(int(mark) * (3 if place % 2 else 1) for place, mark in enumerate(digits)) % 10
    return f"{digits}{check}"


def _article(draw: Random, brand: Brand) -> list[list[object]]:
    """Its variants: a row for each size, without a SKU."""
    name = draw.choice(brand.categories)
    category = CATEGORIES[name]
    line = draw.choice(MANNERS) + (f" {draw.choice(MANNERS)}" if draw.random() < 0.3 else "")
    number = f"{draw.randrange(1, 99)}{draw.choice(['', 'X', 'S', ' Plus'])}"
    model, base = f"{line} {name if draw.random() < 0.6 else number}", draw.uniform(2, 80)
    rows: list[list[object]] = []
    for amount in draw.sample(category.sizes, draw.randrange(1, min(4, len(category.sizes)) + 1)):
        size = f"EU {amount}" if category.unit == "EU" else f"{amount} {category.unit}".strip()
        color = draw.choice(COLORS) if category.business in COLORED else ""
        price = f"{int(base * (1 + draw.random()))}.{draw.choice(listed('99 49 95 00 29'))}"
        rows.append([brand.name, model, name, color, size, price, _ean(draw, brand), brand.country])
    return rows


def _size(draw: Random, size: str) -> tuple[str, str]:
    """A size written otherwise, and the kind of error."""
    amount, _, unit = size.partition(" ")
    ways = [(size.replace(" ", ""), "size no space"), (size.lower() if size.isupper() else size.upper(), "size case")]
    if unit in ("ml", "g"):
        ways += [(f"{float(amount) / 1000:g} {'l' if unit == 'ml' else 'kg'}", "size other unit")] * 2
    if unit in ("ml", "oz"):
        ways.append((amount, "size no unit"))
    if unit == "g":
        ways.append((f"{size}rams", "size unit spelled out"))
    if unit == "oz":
        ways += [(f"{amount} ounce", "size unit spelled out"), (f"{size}.", "size unit dot")]
    return draw.choice(ways)


def _category_variant(_: Random, category: str) -> str:
    return category.replace(" ", "-") if " " in category else f"{category}s"


def _any_category(draw: Random, _: str) -> str:
    return draw.choice(list(CATEGORIES))


def _other_country_name(_: Random, country: str) -> str:
    return ALSO.get(country, country.upper())


def _any_country(draw: Random, _: str) -> str:
    return draw.choice(COUNTRIES)


SLIPS: Slips = {
    "brand": [
        (0.01, "brand misspelt", typo),
        (0.02, "brand case", lambda draw, value: draw.choice([value.upper(), value.lower()])),
        (0.01, "brand space", lambda _, value: f" {value}"),
    ],
    "category": evenly(0.05, "category", mismatch=_any_category, case=lower, typo=typo, variant=_category_variant),
    "color": [
        *evenly(0.075, "color", case=lower, typo=typo, blank=BLANK),
        (0.025, "color placeholder", lambda _, value: "N/A" if value else None),
    ],
    "price": [
        (0.015, "price currency", lambda draw, value: draw.choice([f"${value}", f"{value} USD"])),
        *evenly(0.015, "price", comma=swapped_for(".", ","), scale=swapped_for(".", "")),
    ],
    "ean": [
        *evenly(0.02, "ean", digit=digit, short=lambda _, value: value[:-1]),
        (0.01, "ean scientific", lambda _, value: f"{float(value):.5E}"),
    ],
    "country": evenly(0.04, "country", variant=_other_country_name, mismatch=_any_country, blank=BLANK, typo=typo),
}


def make(draw: Random, rows: int) -> Twin:
    """Variants of articles, until there are so many; some brands have many more articles than others."""
    brands = [_brand(draw) for _ in range(BRANDS)]
    variants: list[list[object]] = []
    while len(variants) < rows:
        variants += _article(draw, often_first(draw, brands, 0.7))
    twin = Twin(COLUMNS, [[f"SKU{100_234 + at}", *variant] for at, variant in enumerate(variants)], draw)
    for row, (_, brand, model, _, color, size, *_) in enumerate(twin.right):
        if draw.random() < 0.1:
            twin.put(row, "size", *_size(draw, size))
        if color and draw.random() < 0.015:
            twin.swap(row, "color", "size", "size and color swapped")
        if draw.random() < 0.01:
            twin.put(row, "model", f"{brand} {model}", "brand inside model")
    twin.spoil(SLIPS)
    return twin
