"""Make docs/assets/report.png: the report of a machine learned from visits to an imaginary shop.

Usage: python tools/poster.py   (needs chromium)
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import sigmastar as ss

TARGET = Path(__file__).parent.parent / "docs" / "assets" / "report.png"
# Where a visitor is -> what is done there, where that leads, and how likely it is.
SHOP = {
    "door": [("search", "results", 0.6), ("browse", "shelf", 0.4)],
    "shelf": [("view", "item", 0.55), ("browse", "shelf", 0.3), ("search", "results", 0.1)],
    "results": [("view", "item", 0.6), ("search", "results", 0.25)],
    "item": [("add", "basket", 0.35), ("back", "results", 0.35), ("review", "item", 0.15)],
    "basket": [("search", "results", 0.25), ("remove", "item", 0.15), ("pay", "till", 0.5)],
    "till": [("fail", "basket", 0.15), ("done", "out", 0.85)],
    "out": [],
}


def shop() -> ss.PFA:
    """Return the machine that writes the visits; whatever probability is left ends them."""
    places = list(SHOP)
    words = sorted({word for arcs in SHOP.values() for word, _, _ in arcs})
    arcs = [[[0.0] * len(places) for _ in places] for _ in words]
    stop = []
    for i, moves in enumerate(SHOP.values()):
        for word, place, chance in moves:
            arcs[words.index(word)][i][places.index(place)] += chance
        stop.append(1.0 - sum(chance for _, _, chance in moves))
    return ss.PFA([1.0] + [0.0] * (len(places) - 1), arcs, stop, ss.Alphabet(words))


def main() -> None:
    """Learn, write the page, and photograph it."""
    visits = ss.sample(shop(), 4000, random_state=0)
    start = ss.SeparablePFA(7, random_state=0)
    learner = ss.BaumWelchPFA(7, init=start, max_iter=60, validation_fraction=0.1, random_state=0)
    learner.fit(visits)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        ss.write_report(
            learner, page, data=ss.sample(shop(), 500, random_state=1), title="Visits to a shop"
        )
        subprocess.run(
            [
                shutil.which("chromium") or "chromium",
                *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *("--disable-quic", "--no-first-run", "--disable-background-networking"),
                *(
                    "--disable-component-update",
                    "--disable-sync",
                    "--force-device-scale-factor=1.5",
                ),
                f"--user-data-dir={folder}/profile",
                f"--screenshot={TARGET}",
                "--window-size=1180,1500",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
