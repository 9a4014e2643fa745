"""Bounds on memory: how they are told, and what is refused."""

import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.cli.main import app
from sigmastar.core.errors import InvalidParameter, TooLarge
from sigmastar.core.memory import available_memory, check_memory, memory_budget, readable_size


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (5, 5),
        ("5", 5),
        ("2 kB", 2000),
        ("1.5GB", 1_500_000_000),
        ("1MiB", 1 << 20),
        ("3g", 3 * 10**9),
    ],
)
def test_a_bound_is_a_number_or_a_text(given, size):
    assert memory_budget(given) == size


@pytest.mark.parametrize("given", [0, -1, True, "much", "0MB", "", "-3GB", 2.5])
def test_other_bounds_are_refused(given):
    with pytest.raises(InvalidParameter, match="max_memory must be"):
        memory_budget(given)


def test_by_default_half_of_what_is_free(monkeypatch):
    monkeypatch.delenv("SIGMASTAR_MAX_MEMORY", raising=False)
    assert 0 < memory_budget() <= available_memory()
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "7MB")
    assert memory_budget() == 7_000_000


def test_what_does_not_fit_is_refused_with_a_remedy():
    with pytest.raises(
        TooLarge, match=r"a table needs about 2.0 GB .* 1 MB \(max_memory\)\. Shrink"
    ):
        check_memory(2e9, "a table", "Shrink it.", max_memory="1MB")
    check_memory(1e6, "a table", "Shrink it.", max_memory="1MB")


def test_sizes_for_people():
    assert [readable_size(n) for n in (12, 3400, 5.6e6, 7.8e9, 1.2e12)] == [
        "12 bytes",
        "3.4 kB",
        "5.6 MB",
        "7.8 GB",
        "1,200.0 GB",
    ]


def test_a_block_has_a_bound_of_its_own(monkeypatch):
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "7MB")
    with ss.memory_limit("2MB"):
        assert memory_budget() == 2_000_000
        with ss.memory_limit(5):
            assert memory_budget() == 5
        assert memory_budget("1MB") == 1_000_000
    assert memory_budget() == 7_000_000
    with pytest.raises(InvalidParameter, match="max_memory must be"), ss.memory_limit("much"):
        pass


def test_commands_take_a_bound(tmp_path):
    corpus = tmp_path / "many.txt"
    corpus.write_text("\n".join(f"a{i} b{i} c{i}" for i in range(400)) + "\n")
    learn = ["learn", str(corpus), "-m", "spectral", "-o", str(tmp_path / "m.sigma")]
    done = CliRunner().invoke(app, ["--max-memory", "1MB", *learn])
    assert isinstance(done.exception, TooLarge)
    assert not (tmp_path / "m.sigma").exists()
    assert CliRunner().invoke(app, ["--max-memory", "1GB", *learn]).exit_code == 0
