"""The pages of the service, tried in a real browser, on a desk and on a phone."""

from __future__ import annotations

import threading
import time

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import text_to_be_present_in_element
from selenium.webdriver.support.ui import WebDriverWait

import sigmastar as ss
from sigmastar.serve.store import ModelStore

uvicorn = pytest.importorskip("uvicorn")

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    logs = ss.Alphabet(["close", "open", "read"])
    arcs = [[[0, 0], [0, 0.3]], [[0, 1], [0, 0]], [[0, 0], [0, 0.4]]]
    ss.PFA([1, 0], arcs, [0, 0.3], logs).save(place / "logs.sigma")
    sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 6
    ss.HMMTagger(1).fit(sentences, [["DT", "NN", "VBZ"]] * 12).save(place / "en.sigma")
    pairs = ss.PairCorpus.from_pairs([("anna", "анна"), ("nan", "нан"), ("an", "ан")] * 8)
    ss.Transliterator("joint-ngram", order=2).fit(pairs).save(place / "names.sigma")
    operators = [[[[1.0]], [[0.0]]], [[[0.0]], [[1.0]]]]
    labels = ss.Alphabet(["off", "on"])
    ss.ContinuousTagger([1.0], operators, [1.0], labels, [0.5, 0.5]).save(place / "lamp.sigma")
    from sigmastar.serve.app import create_app

    app = create_app(ModelStore(sorted(place.glob("*.sigma"))))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "typed", "shown"),
    [
        ("logs", "open", "read"),
        ("en", "the cat barks", "VBZ"),
        ("names", "nana", "нана"),
        ("lamp", "a,b\n0.9,0.1\n0.2,0.8\n", "off (1)"),
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


def test_next_symbols_can_be_clicked_through(browser, address):
    visit(browser, address, "logs", "desktop")
    wait_for(browser, "open")
    for symbol in ("open", "read"):
        bars = browser.find_elements(By.CSS_SELECTOR, "#output .bar")
        next(bar for bar in bars if bar.text.startswith(symbol)).click()
        last = (By.CSS_SELECTOR, "#chips .chip:last-child")
        WebDriverWait(browser, 20).until(text_to_be_present_in_element(last, symbol))
    assert browser.find_element(By.ID, "input").get_property("value") == "open read"
    graph = (By.CSS_SELECTOR, "#graph .node")
    WebDriverWait(browser, 20).until(lambda driver: len(driver.find_elements(*graph)) == 2)


def test_what_cannot_be_answered_is_said(browser, address):
    visit(browser, address, "logs", "phone")
    browser.find_element(By.ID, "input").send_keys("erase")
    WebDriverWait(browser, 20).until(
        lambda driver: "erase" in driver.find_element(By.ID, "problem").text
    )


def test_all_models_are_listed(browser, address):
    browser.get(address)
    links = browser.find_elements(By.CSS_SELECTOR, "a.choice")
    assert [link.text.split("\n")[0] for link in links] == ["en", "lamp", "logs", "names"]
