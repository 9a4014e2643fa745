"""Synthetic problems with a known truth, and loaders of public data."""

from sigmastar.datasets.automata import load_pautomac, load_ptb_tags, load_wikipedia_text
from sigmastar.datasets.demo import load_demo_english, load_demo_names
from sigmastar.datasets.generate import make_dpfa, make_hmm, make_pfa
from sigmastar.datasets.logs import LogSessions, make_logs
from sigmastar.datasets.problem import (
    Continuations,
    Document,
    PrefixProblem,
    Problem,
    SensorSeries,
    Splits,
    TaggedDocuments,
)
from sigmastar.datasets.pronunciation import load_pronunciation
from sigmastar.datasets.robot import make_robot_stream
from sigmastar.datasets.sensors import load_wall_following
from sigmastar.datasets.spice import load_spice
from sigmastar.datasets.store import cache_directory
from sigmastar.datasets.synthetic import make_pautomac, make_problem, problem_from_model
from sigmastar.datasets.tagged import load_brown, load_transliteration, load_ud

__all__ = [
    "Continuations",
    "Document",
    "LogSessions",
    "PrefixProblem",
    "Problem",
    "SensorSeries",
    "Splits",
    "TaggedDocuments",
    "cache_directory",
    "load_brown",
    "load_demo_english",
    "load_demo_names",
    "load_pautomac",
    "load_pronunciation",
    "load_ptb_tags",
    "load_spice",
    "load_transliteration",
    "load_ud",
    "load_wall_following",
    "load_wikipedia_text",
    "make_dpfa",
    "make_hmm",
    "make_logs",
    "make_pautomac",
    "make_pfa",
    "make_problem",
    "make_robot_stream",
    "problem_from_model",
]
