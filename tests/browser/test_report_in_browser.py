"""Reports as people see them: in a real browser, on a desk and on a phone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from browser.pages import HOSTILE, write_all

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
KINDS = ("spectral", "em", "hmm", "ngram", "tagger", "fst", "names", "transducer", "sensors")
# What a page of each kind must show.
HEADINGS = {
    "spectral": {"State graph", "Choosing the size", "Singular values of the data"},
    "em": {"State graph", "Transitions", "Likelihood by step", "Singular values of the model"},
    "hmm": {"State graph", "Next symbol by state", "Likeliest strings"},
    "ngram": {"At the beginning", "How well it does", "Drawn at random"},
    "tagger": {"What follows what", "Confusion matrix", "Tagged sentences"},
    "fst": {"The compiled machine", "Some arcs", "Recall by label"},
    "names": {"Examples", "How well it does"},
    "transducer": {"What is written for what", "Confusion matrix"},
    "sensors": {"A stream and its labels", "Operators by label", "Confusion matrix"},
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_all(tmp_path_factory.mktemp("reports"))


def show(browser: webdriver.Chrome, page: Path, size: str) -> None:
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get_log("browser")  # forget what earlier pages said
    browser.get(page.as_uri())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_page_shows_its_parts_and_fits(
    browser: webdriver.Chrome, pages: dict[str, Path], kind: str, size: str
) -> None:
    show(browser, pages[kind], size)
    headings = {h.text for h in browser.find_elements(By.TAG_NAME, "h3") if h.is_displayed()}
    assert HEADINGS[kind] <= headings
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= SIZES[size][0]
    empty = browser.execute_script(
        "return [...document.querySelectorAll('svg')]"
        ".filter(s => s.getBoundingClientRect().height < 10).length"
    )
    assert empty == 0
    assert browser.find_elements(By.CSS_SELECTOR, "svg rect, svg circle, svg path")
    folder = os.environ.get("SIGMASTAR_SCREENSHOTS")
    if folder:
        tall = browser.execute_script("return document.documentElement.scrollHeight")
        full = {"width": SIZES[size][0], "height": tall, "deviceScaleFactor": 2, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", full)
        browser.save_screenshot(str(Path(folder) / f"{kind}-{size}.png"))


@pytest.mark.parametrize("kind", [*KINDS, "hostile"])
def test_console_is_silent_and_nothing_is_fetched(
    browser: webdriver.Chrome, pages: dict[str, Path], kind: str
) -> None:
    show(browser, pages[kind], "desktop")
    fetched = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
        ".filter(name => !name.startsWith('data:'))"
    )
    assert fetched == []
    assert browser.get_log("browser") == []


def test_text_in_the_picture_can_be_read_on_a_phone(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    show(browser, pages["em"], "phone")
    smallest = browser.execute_script(
        "return Math.min(...[...document.querySelectorAll('svg text')]"
        ".map(t => t.getBoundingClientRect().height))"
    )
    assert smallest >= 8


def test_pointing_at_a_state_tells_about_it(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    show(browser, pages["em"], "desktop")
    node = browser.find_element(By.CSS_SELECTOR, ".graph .node circle")
    browser.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", node
    )
    ActionChains(browser).move_to_element(node).perform()
    tip = browser.find_element(By.ID, "tip")
    assert tip.text.startswith("state ")
    assert "pointed" in browser.find_element(By.CLASS_NAME, "graph").get_attribute("class")


def test_symbols_that_are_markup_stay_text(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    show(browser, pages["hostile"], "desktop")
    assert browser.title != "taken"
    assert HOSTILE in browser.find_element(By.TAG_NAME, "main").text
