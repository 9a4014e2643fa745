"""The service, asked as its clients ask it: answers equal those of the library."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import sigmastar as ss
from patience import until
from sigmastar.cli import main
from sigmastar.serve import answers
from sigmastar.serve.counters import Counters
from sigmastar.serve.gather import each_alone
from sigmastar.serve.limits import Limits, Refused
from sigmastar.serve.pace import Paces
from sigmastar.serve.store import ModelStore

pytest.importorskip("starlette")
from starlette.testclient import TestClient

from sigmastar.serve.app import create_app

SENTENCES = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 4
PENN = [["DT", "NN", "VBZ"]] * 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    arcs = [[[0.3, 0.2], [0.1, 0.1]], [[0.1, 0.3], [0.4, 0.1]]]
    ss.PFA([1.0, 0.0], arcs, [0.1, 0.3], ss.Alphabet("ab")).save(place / "letters.sigma")
    logs = [["open", "read", "close"], ["open", "close"]] * 10
    ss.KneserNey(2).fit(logs).save(place / "logs.sigma")
    hmm = ss.HMMTagger(1).fit(SENTENCES, PENN)
    hmm.info_ = {**hmm.info_, "reading": {"column": "xpos"}}
    hmm.save(place / "en.sigma")
    pairs = ss.PairCorpus.from_pairs([("anna", "анна"), ("nan", "нан"), ("an", "ан")] * 8)
    ss.Transliterator("joint-ngram", order=2).fit(pairs).save(place / "names.sigma")
    operators = [[[[1.0]], [[0.0]]], [[[0.0]], [[1.0]]]]
    labels = ss.Alphabet(["off", "on"])
    ss.ContinuousTagger([1.0], operators, [1.0], labels, [0.5, 0.5]).save(place / "lamp.sigma")
    return place


@pytest.fixture
def client(folder):
    app = create_app(ModelStore(sorted(folder.glob("*.sigma"))), limits=Limits(batch=5, body=5000))
    with TestClient(app) as found:
        yield found


def ask(client, path, **request):
    response = client.post(f"/v1/models/{path}", json=request)
    assert response.status_code == 200, response.text
    return response.json()["outputs"]


def test_scores_and_predictions_are_those_of_the_library(client, folder):
    model = ss.load(folder / "letters.sigma")
    values = [
        found["log_proba"] for found in ask(client, "letters:score", inputs=["ab", ["b"], ""])
    ]
    np.testing.assert_allclose(values, ss.log_proba(model, ["ab", "b", ""]))
    (row,) = ask(client, "letters:predict", inputs=["ab"], k=3)
    expected = ss.predict_next(model, ["ab"], 3)[0]
    assert [entry["symbol"] for entry in row] == [
        None if symbol is ss.END else symbol for symbol, _ in expected
    ]
    np.testing.assert_allclose([entry["p"] for entry in row], [p for _, p in expected])


def test_samples_repeat_with_their_seed(client):
    first = ask(client, "letters:sample", n=4, seed=3)
    assert first == ask(client, "letters:sample", n=4, seed=3)
    assert len(first) == 4


def test_strings_without_an_end_are_drawn_as_far_as_they_go(client, tmp_path):
    ss.PFA([1.0], [[[1.0]]], [0.0], ss.Alphabet("a")).save(tmp_path / "endless.sigma")
    with TestClient(create_app(ModelStore([tmp_path / "endless.sigma"]))) as other:
        (drawn,) = ask(other, "endless:sample", n=1)
    assert drawn == ["a"] * 100


@pytest.mark.parametrize("number", [3, 3.0])
def test_whole_numbers_are_integers_however_they_are_written(client, number):
    assert len(ask(client, "letters:sample", n=number, seed=1)) == 3
    assert client.post("/v1/models/letters:sample", json={"n": 3.5}).status_code == 400


@pytest.mark.parametrize("name", ["en", "sets"])
def test_nothing_is_tagged_as_nothing(folder, tmp_path, name):
    path = folder / "en.sigma"
    if name == "sets":
        path = tmp_path / "sets.sigma"
        ss.HMMTagger(1, classes="sets", decoding="posterior").fit(SENTENCES, PENN).save(path)
    with TestClient(create_app(ModelStore([path]))) as client:
        assert ask(client, f"{name}:tag", inputs=[]) == []
        assert ask(client, f"{name}:tag", inputs=["", []]) == [[], []]


def test_a_pipeline_takes_text_as_it_is(tmp_path):
    tagger = ss.HMMTagger(1).fit(SENTENCES, PENN)
    pipeline = ss.Pipeline(ss.Tokenizer.default(), {"xpos": tagger})
    pipeline.save(tmp_path / "raw.sigma")
    text = "the dog barks. A cat sleeps"
    with TestClient(create_app(ModelStore([tmp_path / "raw.sigma"]))) as client:
        (words,) = ask(client, "raw:tag", inputs=[text])
        assert [found["word"] for found in words] == "the dog barks . A cat sleeps".split()
        assert [found["sentence"] for found in words] == [0, 0, 0, 0, 1, 1, 1]
        assert all(text[w["begin"] : w["end"]] == w["word"] for w in words)
        assert (words[1]["tag"], words[1]["xpos"], words[1]["upos"]) == ("NN", "NN", "_")
        found = client.post("/process", data={"data": text}).json()["result"]
        assert found == pipeline(text).to_conllu()
        cut = {"data": "the\ndog\n", "input": "vertical", "output": "vertical"}
        assert client.post("/process", data=cut).json()["result"] == "the\tDT\ndog\tNN\n\n"
        assert client.post("/v1/models/raw:tag", json={"inputs": [["a"]]}).status_code == 400
        assert client.get("/models/raw").status_code == 200


def test_lines_before_a_bad_one_are_answered(client):
    lines = b'"ab"\n"b"\n"x"\n"a"\n'
    kind = {"Content-Type": "application/x-ndjson"}
    response = client.post("/v1/models/letters:score", content=lines, headers=kind)
    first, second, last = map(json.loads, response.text.splitlines())
    assert (first["symbols"], second["symbols"]) == (2, 1)
    assert last["error"].startswith("symbol 'x' is not in the alphabet")
    assert "unknown=" not in last["error"]


def test_options_that_are_not_there_are_told_by_name(client):
    response = client.post("/v1/models/letters:score", json={"input": ["ab"]})
    assert response.json()["error"] == "there is no option 'input'; there are: inputs, model."


def test_a_tagger_need_not_be_named_where_there_is_one(client, folder):
    assert client.post("/process", data={"data": "the dog"}).json()["model"] == "en"
    with TestClient(create_app(ModelStore([folder / "letters.sigma"]))) as other:
        told = other.post("/process", data={"data": "the dog"})
    assert (told.status_code, told.json()["error"]) == (
        400,
        "model must name a tagger of text; there are: none.",
    )


def test_a_port_that_is_taken_is_told_in_one_line(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "sigmastar", "serve", str(folder / "letters.sigma")]
        done = subprocess.run(
            [*command, "--port", str(port)], capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: 127.0.0.1:{port} cannot be listened on")
    assert "--port" in done.stderr


def test_the_document_says_how_wide_frames_are(client):
    paths = client.get("/openapi.json").json()["paths"]
    asked = paths["/v1/models/lamp:tag"]["post"]["requestBody"]["content"]["application/json"]
    frame = asked["schema"]["properties"]["inputs"]["items"]["items"]
    assert (frame["minItems"], frame["maxItems"]) == (2, 2)


def test_odd_events_are_pointed_at(client):
    fine, odd = ask(client, "logs:anomalies", inputs=["open close", "open erase close"])
    assert odd["oddest"] == 1
    assert odd["score"] > fine["score"]
    assert len(odd["surprise"]) == 4


def test_words_are_tagged_with_confidence(client, folder):
    (row,) = ask(client, "en:tag", inputs=["the dog sleeps"])
    assert [(found["word"], found["tag"]) for found in row] == [
        ("the", "DT"),
        ("dog", "NN"),
        ("sleeps", "VBZ"),
    ]
    expected = ss.load(folder / "en.sigma").confidence([["the", "dog", "sleeps"]])[0]
    np.testing.assert_allclose([found["confidence"] for found in row], expected)


def test_what_shows_nothing_is_no_word_of_a_text(client):
    (row,) = ask(client, "en:tag", inputs=["the \u001a dog\u00a0\u0085"])
    assert [word["word"] for word in row] == ["the", "dog"]


def test_names_are_carried_over(client):
    (best,) = ask(client, "names:transduce", inputs=["nana"], k=2)
    assert best[0]["output"] == "нана"


def test_frames_are_labelled(client):
    (found,) = ask(client, "lamp:tag", inputs=[[[0.9, 0.1], [0.2, 0.8]]])
    assert found["labels"] == ["off", "on"]
    assert client.post("/v1/models/lamp:tag", json={"inputs": [[[1, "x"]]]}).status_code == 400


def test_text_is_processed_into_the_column_that_was_learned(client):
    form = {"model": "en", "data": "the dog barks\n"}
    for sent in ({"data": form}, {"files": {name: (None, text) for name, text in form.items()}}):
        found = client.post("/process", **sent).json()["result"]
        assert found.split("\n")[1] == "2\tdog\t_\t_\tNN\t_\t_\t_\t_\t_"


def test_streams_are_answered_line_by_line(client):
    lines = "".join(json.dumps(text) + "\n" for text in ["ab", "b", "", "aab"] * 40)
    headers = {"Content-Type": "application/x-ndjson"}
    found = client.post("/v1/models/letters:score", content=lines, headers=headers)
    values = [json.loads(line)["log_proba"] for line in found.text.splitlines()]
    assert len(values) == 160
    assert values[:4] == values[-4:]
    bad = client.post("/v1/models/letters:score", content='"ab"\n{\n', headers=headers)
    first, last = map(json.loads, bad.text.splitlines())
    assert first["symbols"] == 2
    assert "must be JSON" in last["error"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("letters:score", b"{", 400),
        ("letters:score", b"[1]", 400),
        ("letters:score", b'{"inputs": 5}', 400),
        ("letters:score", b'{"inputs": ["xyz"]}', 422),
        ("letters:score", b'{"inputs": [[1.5]]}', 400),
        ("letters:score", b'{"inputs": [[true]]}', 400),
        ("names:transduce", b'{"inputs": [[false]]}', 400),
        ("en:tag", b'{"inputs": [["\\u001f \\u0085"]]}', 400),
        ("letters:score", b'{"inputs": [], "colour": 1}', 400),
        ("letters:predict", b'{"inputs": [], "k": 0}', 400),
        ("letters:predict", b'{"inputs": [], "k": true}', 400),
        ("letters:tag", b'{"inputs": []}', 404),
        ("nobody:score", b'{"inputs": []}', 404),
        ("letters:score", b'{"inputs": ["","","","","",""]}', 413),
        ("letters:score", b'{"inputs": ["' + b"a" * 6000 + b'"]}', 413),
        ("letters:score", b"\xff\xfe", 400),
        ("letters:score", b"[" * 4000, 400),
        ("en:tag", b'{"inputs": [["\\ud800", " "]]}', 400),
        ("logs:sample", b'{"n": 1000000}', 400),
    ],
)
def test_bad_requests_are_refused_in_words(client, path, body, status):
    headers = {"Content-Type": "application/json"}
    response = client.post(f"/v1/models/{path}", content=body, headers=headers)
    assert response.status_code == status, response.text
    assert response.json()["error"].endswith(".")


def test_the_document_describes_every_operation(client):
    document = client.get("/openapi.json").json()
    for entry in client.get("/v1/models").json()["models"]:
        for operation in entry["operations"]:
            assert "post" in document["paths"][f"/v1/models/{entry['name']}:{operation}"]
    assert document["openapi"].startswith("3.1")


def test_figures_count_what_was_asked(client):
    ask(client, "letters:score", inputs=["a", "b"])
    text = client.get("/metrics").text
    assert 'sigmastar_requests_total{operation="score",status="200"} 1' in text
    assert 'sigmastar_inputs_total{operation="score"} 2' in text
    assert 'sigmastar_request_seconds_count{operation="score"} 1' in text


def test_figures_tell_what_is_remembered_of_words(client):
    def held():
        text = client.get("/metrics").text
        return int(re.search(r"^sigmastar_remembered_bytes (\d+)", text, re.MULTILINE)[1])

    before = held()
    ask(client, "en:tag", inputs=["unheard unseen unsaid"])
    assert held() - before >= 3 * len("unheard")


def test_names_that_strangers_make_up_are_not_kept(folder):
    app = create_app(ModelStore([folder / "letters.sigma"]), token="secret", limits=Limits(body=9))
    with TestClient(app) as client:
        for number in range(3):
            path = f'/v1/models/letters:made"up{number}'
            assert client.post(path, json={}).status_code == 401
            known = {"Authorization": "Bearer secret"}
            assert client.post(path, content=b"x" * 99, headers=known).status_code == 413
        figures = client.get("/metrics", headers=known).text
    assert "made" not in figures
    assert 'sigmastar_requests_total{operation="unknown",status="401"} 3' in figures


def test_times_are_counted_up_to_each_bound():
    counters = Counters()
    for seconds in (0.0005, 0.001, 0.02, 99.0):
        counters.note("tag", 200, seconds)
    text = counters.text(1, 0, 0)
    buckets = dict(re.findall(r'bucket\{operation="tag",le="(.*?)"\} (\d+)', text))
    assert (buckets["0.001"], buckets["0.01"], buckets["0.025"]) == ("2", "2", "3")
    assert (buckets["30"], buckets["+Inf"]) == ("3", "4")


def test_without_the_token_only_health_and_empty_pages_answer(folder):
    app = create_app(ModelStore([folder / "en.sigma"]), token="secret")
    with TestClient(app) as client:
        assert client.get("/health").status_code == 200
        assert client.get("/v1/models").status_code == 401
        wrong = {"Authorization": "Bearer secre"}
        assert client.get("/v1/models", headers=wrong).status_code == 401
        right = {"Authorization": "Bearer secret"}
        assert client.get("/v1/models", headers=right).json()["models"][0]["name"] == "en"


def test_pages_hold_nothing_that_a_name_could_break(folder, tmp_path):
    hostile = tmp_path / "<script>x.sigma"
    hostile.write_bytes((folder / "letters.sigma").read_bytes())
    with TestClient(create_app(ModelStore([hostile]))) as client:
        page = client.get("/models/%3Cscript%3Ex").text
        assert "<script>x" not in page
        assert "default-src 'none'" in client.get("/").headers["content-security-policy"]


def test_a_changed_file_is_loaded_and_a_damaged_one_is_not(folder, tmp_path):
    path = tmp_path / "m.sigma"
    path.write_bytes((folder / "letters.sigma").read_bytes())
    store = ModelStore([path])
    before = store.find("m").model
    path.write_bytes(b"damaged")
    store.refresh()
    store.refresh()
    assert store.find("m").model is before
    assert store.failures == 1
    ss.WFA([1.0], [[[0.5]]], [0.5], ss.Alphabet("a")).save(path)
    store.refresh()
    assert store.find("m").model.n_states == 1
    assert store.reloads == 1


def test_what_takes_too_long_is_given_up(folder, monkeypatch):
    app = create_app(ModelStore([folder / "letters.sigma"]), limits=Limits(seconds=0.2))
    told = threading.Event()
    monkeypatch.setattr("sigmastar.serve.app.answer", lambda *_: told.wait(60))
    with TestClient(app) as client:
        assert client.post("/v1/models/letters:score", json={"inputs": []}).status_code == 504
        told.set()


def test_what_curl_sends_of_itself_is_told_its_header(client):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    asked = client.post("/v1/models/letters:score", content='{"inputs": ["ab"]}', headers=form)
    assert asked.status_code == 415
    assert "got 'application/x-www-form-urlencoded'" in asked.json()["error"]
    assert "-H 'Content-Type: application/json'" in asked.json()["error"]


def test_examples_of_the_help_send_json_as_such():
    told = CliRunner().invoke(main.app, ["serve", "--help"], env={"COLUMNS": "200"}).stdout
    asking = [line for line in told.splitlines() if "/v1/models/" in line]
    assert asking
    assert all("--json" in line or "application/json" in line for line in asking)


def test_more_than_can_wait_are_told_to_come_again(folder, monkeypatch):
    limits = Limits(workers=1, waiting=1)
    app = create_app(ModelStore([folder / "letters.sigma"]), limits=limits)
    go = threading.Event()
    monkeypatch.setattr("sigmastar.serve.app.answer", lambda *_: go.wait(120) and [])
    with TestClient(app) as client:
        codes = []

        def one():
            codes.append(client.post("/v1/models/letters:score", json={"inputs": []}).status_code)

        threads = [threading.Thread(target=one) for _ in range(3)]
        for thread in threads:
            thread.start()
        until(lambda: codes)
        go.set()
        for thread in threads:
            thread.join()
    assert sorted(codes) == [200, 200, 503]


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is told by /proc")
def test_memory_that_requests_needed_is_given_back(folder, monkeypatch):
    monkeypatch.setattr("sigmastar.serve.app._TIDY", 0.05)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    with TestClient(create_app(ModelStore([folder / "letters.sigma"]))) as client:
        blocks = [bytearray(20_000) for _ in range(4000)]
        full = resident()
        del blocks[::2]  # lies free between blocks that are in use
        client.get("/health")
        until(lambda: resident() < full - (20 << 20))


def test_what_is_missing_is_told_before_anything_is_loaded(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(main.app, ["serve", "nothing.sigma"])
    assert isinstance(result.exception, ss.errors.MissingExtra)


def test_a_stopped_service_answers_what_it_has_accepted(folder):
    command = [
        sys.executable,
        "-m",
        "sigmastar",
        "serve",
        str(folder / "letters.sigma"),
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        line = process.stderr.readline()
        assert "serving letters at http://127.0.0.1:" in line
        address = line.split(" at ")[1].split()[0]
        found = []

        def one():
            body = json.dumps({"inputs": ["ab" * 8000] * 200}).encode()
            request = urllib.request.Request(f"{address}/v1/models/letters:score", body)
            request.add_header("Content-Type", "application/json")
            with urllib.request.urlopen(request) as response:
                found.append(len(json.load(response)["outputs"]))

        threads = [threading.Thread(target=one) for _ in range(3)]
        for thread in threads:
            thread.start()
        under_way = []

        def all_are_accepted():
            with urllib.request.urlopen(f"{address}/metrics") as response:
                under_way.append(int(re.search(r"_in_flight (\d+)", response.read().decode())[1]))
            return under_way[-1] + len(found) >= 3

        until(all_are_accepted)
        os.kill(process.pid, signal.SIGTERM)
        for thread in threads:
            thread.join()
        assert found == [200] * 3
        assert under_way[-1] > 0
        assert process.wait(60) == 0


def test_words_that_are_half_a_character_are_answered(client):
    body = json.dumps({"inputs": [["the", "\ud800"]]})
    headers = {"Content-Type": "application/json"}
    response = client.post("/v1/models/en:tag", content=body, headers=headers)
    assert response.status_code == 200
    assert json.loads(response.text)["outputs"][0][1]["word"] == "\ud800"


def test_a_wrong_method_is_told_the_right_one(client):
    for response in (client.get("/v1/models/en:tag"), client.delete("/v1/models/en:tag")):
        assert response.status_code == 405
        assert response.headers["allow"] == "POST"
    assert "GET" in client.post("/health").headers["allow"]


def test_requests_that_wait_are_answered_together_and_rightly(folder, monkeypatch):
    app = create_app(ModelStore([folder / "names.sigma"]), limits=Limits(workers=1))
    alone, go = threading.Event(), threading.Event()
    calls = []

    def slow(served, operation, request, limits):
        calls.append(len(request["inputs"]))
        alone.set()
        go.wait(120)
        return [given.upper() for given in request["inputs"]]

    monkeypatch.setattr("sigmastar.serve.app.answer", slow)
    with TestClient(app) as client:
        found = {}

        def one(name):
            found[name] = ask(client, "names:transduce", inputs=[name])

        threads = [threading.Thread(target=one, args=(name,)) for name in "abcdef"]
        threads[0].start()
        alone.wait(120)
        for thread in threads[1:]:
            thread.start()
        until(lambda: "sigmastar_in_flight 6" in client.get("/metrics").text)
        go.set()
        for thread in threads:
            thread.join()
    assert found == {name: [name.upper()] for name in "abcdef"}
    assert calls == [1, 5]


def test_one_that_is_refused_spoils_nothing_for_its_neighbours():
    def answer(request, n_requests):
        if "bad" in request["inputs"]:
            raise Refused(400, "bad.")
        return [text.upper() for text in request["inputs"]]

    asked = [{"inputs": ["a", "b"]}, {"inputs": ["bad"]}, {"inputs": []}, {"inputs": ["c"]}]
    first, second, third, fourth = each_alone(answer, asked)
    assert (first, third, fourth) == (["A", "B"], [], ["C"])
    assert isinstance(second, Refused)


def test_what_is_quick_is_answered_without_a_thread(client, monkeypatch):
    threads = set()
    real = answers.answer

    def noted(*arguments):
        threads.add(threading.current_thread().name)
        return real(*arguments)

    monkeypatch.setattr("sigmastar.serve.app.answer", noted)
    monkeypatch.setattr("sigmastar.serve.pace._QUICK", 10.0)
    ask(client, "letters:score", inputs=["ab"])
    assert all(name.startswith("answer") for name in threads)
    threads.clear()
    ask(client, "letters:score", inputs=["ab"])
    assert not any(name.startswith("answer") for name in threads)
    threads.clear()
    ask(client, "letters:score", inputs=["ab" * 2000])  # more than a little
    assert all(name.startswith("answer") for name in threads)


def test_what_has_become_slow_goes_to_threads_again():
    paces = Paces()
    assert not paces.is_quick("a kind")
    for _ in range(3):
        paces.timed("a kind", lambda: None)
    assert paces.is_quick("a kind")
    paces.timed("a kind", lambda: sum(range(1_000_000)))
    assert not paces.is_quick("a kind")
    for number in range(1500):
        paces.timed(number, lambda: None)
    assert len(paces._seconds) <= 1000


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
REQUESTS = st.fixed_dictionaries(
    {"inputs": VALUES | st.lists(st.text("ab ") | st.lists(st.lists(st.floats())), max_size=3)},
    optional={"k": VALUES, "n": VALUES, "seed": VALUES, "length": VALUES},
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from(["letters", "logs", "en", "names", "lamp"]),
    operation=st.sampled_from(["predict", "score", "anomalies", "sample", "tag", "transduce"]),
    request=REQUESTS | VALUES,
)
def test_whatever_is_asked_nothing_breaks(client, name, operation, request):
    body = json.dumps(request)
    headers = {"Content-Type": "application/json"}
    response = client.post(f"/v1/models/{name}:{operation}", content=body, headers=headers)
    assert response.status_code in (200, 400, 404, 413, 422), response.text
    json.loads(response.text, parse_constant=pytest.fail)  # no NaN, no Infinity


def test_each_path_takes_the_methods_that_are_described(client):
    paths = client.get("/openapi.json").json()["paths"]
    for path, described in paths.items():
        refusal = client.request("PURGE", path)  # a method that no path has
        taken = {method.strip() for method in refusal.headers["allow"].split(",")}
        assert taken - {"HEAD"} == {method.upper() for method in described}, path
