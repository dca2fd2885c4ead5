"""Draw the pictures of `docs/how.md`: one flights record, from the table to its counterfactuals.

    python tools/draw_steps.py --out docs/how

fits the model (about three minutes on two cores), measures every step and writes the pictures and `numbers.json`, which
holds every number in them. `--model FOLDER` keeps the fitted model there and takes it from there the next time;
`--numbers docs/how/numbers.json` only draws again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from steps.measure import fit_model, measure
from steps.pictures import PICTURES

from carat import Model, load


def main() -> None:
    """Parse the command line, measure unless there are numbers already, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/how"), help="where the pictures go")
    parser.add_argument("--model", type=Path, help="a folder to keep the fitted model in, or to take it from")
    parser.add_argument("--numbers", type=Path, help="draw from these numbers instead of measuring")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.numbers is None:
        numbers = measure(_model(given.model))
        (given.out / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    else:
        numbers = json.loads(given.numbers.read_text(encoding="utf-8"))
    for name, draw in PICTURES.items():
        (given.out / f"{name}.svg").write_text(draw(numbers).svg(), encoding="utf-8")
        print(given.out / f"{name}.svg")


def _model(folder: Path | None) -> Model:
    if folder is not None and folder.exists():
        return load(folder)
    model = fit_model()
    if folder is not None:
        model.save(folder)
    return model


if __name__ == "__main__":
    main()
