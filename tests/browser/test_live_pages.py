"""The pages of the service, tried in a real browser, on a desk and on a phone."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import sigmastar as ss
from patience import until
from sigmastar.serve.limits import Limits
from sigmastar.serve.run import warm_up
from sigmastar.serve.store import ModelStore

uvicorn = pytest.importorskip("uvicorn")

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    logs = ss.Alphabet(["close", "open", "read"])
    arcs = [[[0, 0], [0, 0.3]], [[0, 1], [0, 0]], [[0, 0], [0, 0.4]]]
    ss.PFA([1, 0], arcs, [0, 0.3], logs).save(place / "logs.sigma")
    steps = ss.Alphabet(["ask to copy", "copy"])
    ss.PFA([1.0], [[[0.4]], [[0.4]]], [0.2], steps).save(place / "steps.sigma")
    ss.PFA([1.0], [[[0.4]], [[0.4]]], [0.2], ss.Alphabet("ab")).save(place / "letters.sigma")
    frames = np.repeat([[0.0, 0.0], [4.0, 4.0]], 20, axis=0)
    frames += np.random.default_rng(0).normal(0, 0.3, (40, 2))
    ss.GaussianHMM(2, random_state=0).fit(frames).save(place / "motor.sigma")
    sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 6
    ss.HMMTagger(1).fit(sentences, [["DT", "NN", "VBZ"]] * 12).save(place / "en.sigma")
    pairs = ss.PairCorpus.from_pairs([("anna", "анна"), ("nan", "нан"), ("an", "ан")] * 8)
    ss.Transliterator("joint-ngram", order=2).fit(pairs).save(place / "names.sigma")
    operators = [[[[1.0]], [[0.0]]], [[[0.0]], [[1.0]]]]
    labels = ss.Alphabet(["off", "on"])
    lamp = ss.ContinuousTagger([1.0], operators, [1.0], labels, [0.5, 0.5])
    lamp.save(place / "lamp.sigma", history={"reading": {"columns": ["a", "b"]}})
    tagger = ss.HMMTagger(1).fit(sentences, [["DT", "NN", "VBZ"]] * 12)
    ss.Pipeline(ss.Tokenizer.default(), {"xpos": tagger}).save(place / "raw.sigma")
    from sigmastar.serve.app import create_app

    store = ModelStore(sorted(place.glob("*.sigma")))
    for served in store:
        warm_up(served, Limits())
    app = create_app(store)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.started)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def visit(browser, address, name, size):
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get_log("browser")
    browser.get(f"{address}/models/{name}")


def wait_for(browser, text):
    def shown(driver):
        return text in driver.find_element(By.ID, "output").text

    WebDriverWait(browser, 20).until(shown)


def follow(browser, symbol, shown):
    """Click on what comes next and wait for these symbols; each answer replaces the elements."""
    clicked = """const bar = [...document.querySelectorAll("#output .bar")]
        .find((bar) => bar.firstChild.textContent === arguments[0]);
        if (bar) bar.click(); return Boolean(bar);"""
    chips = (
        """return [...document.querySelectorAll("#chips .chip")].map((chip) => chip.textContent)"""
    )
    WebDriverWait(browser, 20).until(lambda driver: driver.execute_script(clicked, symbol))
    WebDriverWait(browser, 20).until(lambda driver: driver.execute_script(chips) == shown)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "typed", "shown"),
    [
        ("logs", "open", "read"),
        ("en", "the cat barks", "VBZ"),
        ("names", "nana", "нана"),
        ("lamp", "a,b\n0.9,0.1\n0.2,0.8\n", "off (1)"),
        ("lamp", "b;mode;a\n0,9;x;0,1\n0,8;x;0,2\n", "on (2)"),
        ("raw", "the dog, barks.", "VBZ"),
    ],
)
def test_a_model_answers_what_is_typed(browser, address, name, typed, shown, size):
    visit(browser, address, name, size)
    browser.find_element(By.ID, "input").send_keys(typed)
    wait_for(browser, shown)
    assert browser.find_element(By.ID, "problem").text == ""
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= SIZES[size][0]
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.parametrize("size", SIZES)
def test_bars_can_be_compared(browser, address, size):
    """All begin at one place whatever their labels are, and no figure is broken into two lines."""
    visit(browser, address, "steps", size)
    wait_for(browser, "ask to copy")
    found = browser.execute_script(
        """return [...document.querySelectorAll("#output .bar")].map((bar) =>
        [bar.children[1].getBoundingClientRect().left, bar.children[2].getClientRects().length,
         bar.children[2].getBoundingClientRect().height])"""
    )
    places, _, heights = zip(*found, strict=True)
    assert len(found) > 1
    assert len(set(places)) == 1
    assert max(heights) < 30


def test_next_symbols_can_be_clicked_through(browser, address):
    visit(browser, address, "logs", "desktop")
    follow(browser, "open", ["open"])
    follow(browser, "read", ["open", "read"])
    assert browser.find_element(By.ID, "input").get_property("value") == "open read"
    graph = (By.CSS_SELECTOR, "#graph .node")
    WebDriverWait(browser, 20).until(lambda driver: len(driver.find_elements(*graph)) == 2)


@pytest.mark.parametrize("size", SIZES)
def test_symbols_with_spaces_in_them_can_be_clicked_through(browser, address, size):
    visit(browser, address, "steps", size)
    follow(browser, "ask to copy", ["ask to copy"])
    follow(browser, "copy", ["ask to copy", "copy"])
    assert browser.find_element(By.ID, "problem").text == ""


def test_letters_are_clicked_together_without_spaces(browser, address):
    visit(browser, address, "letters", "desktop")
    follow(browser, "a", ["a"])
    follow(browser, "b", ["a", "b"])
    assert browser.find_element(By.ID, "input").get_property("value") == "ab"


def test_states_behind_measurements_are_shown(browser, address):
    visit(browser, address, "motor", "phone")
    browser.find_element(By.ID, "input").send_keys("0.1 0\n0 0.1\n4 4\n4.1 4\n")
    wait_for(browser, "0 (2)")


@pytest.mark.parametrize(
    ("name", "typed", "told"),
    [
        ("logs", "erase", "erase"),
        ("lamp", "a,c\n1,0\n", "no column b"),
        ("lamp", "a,b\n1,\n", "numb"),
    ],
)
def test_what_cannot_be_answered_is_said(browser, address, name, typed, told):
    visit(browser, address, name, "phone")
    browser.find_element(By.ID, "input").send_keys(typed)
    WebDriverWait(browser, 20).until(
        lambda driver: told in driver.find_element(By.ID, "problem").text
    )


def test_all_models_are_listed(browser, address):
    browser.get(address)
    links = browser.find_elements(By.CSS_SELECTOR, "a.choice")
    assert [link.text.split("\n")[0] for link in links] == [
        *("en", "lamp", "letters", "logs", "motor", "names", "raw", "steps")
    ]


def test_a_graph_of_states_scrolls_on_a_phone_and_the_page_does_not(browser, address):
    visit(browser, address, "logs", "phone")
    WebDriverWait(browser, 20).until(lambda driver: driver.find_elements(By.CSS_SELECTOR, "svg"))
    assert scrolled(browser) > 100


def scrolled(browser):
    """Move the graph as far as it goes; the page must not move. Return how far that was."""
    moved, page = browser.execute_script(
        "const graph = document.querySelector('.graph'); graph.scrollLeft = 10000;"
        "window.scrollTo(10000, 0); return [graph.scrollLeft, window.scrollX]"
    )
    assert page == 0
    return moved
