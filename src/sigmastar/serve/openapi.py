"""The interface as an OpenAPI document, made of the same table that answers."""

from __future__ import annotations

from typing import Any

from sigmastar.core.version import __version__
from sigmastar.serve.answers import (
    OPERATIONS,
    TEXT_TAGGERS,
    WORD,
    Operation,
    operations_of,
    width_of,
)
from sigmastar.serve.limits import Limits
from sigmastar.serve.store import ModelStore, Served

__all__ = ["describe"]

_ERRORS = {
    "400": "The request cannot be used as it is.",
    "401": "The token is missing or wrong.",
    "404": "There is no such model, or it cannot be asked that.",
    "413": "The request is too large.",
    "415": "The request is of another type.",
    "422": "The model cannot take these inputs.",
    "503": "Too many requests are waiting; come again.",
    "504": "The request took too long.",
}


def describe(store: ModelStore, limits: Limits) -> dict[str, Any]:
    """Return the document for the models that are served."""
    form = _form(store)
    paths: dict[str, Any] = {
        "/health": _get("Whether the service answers.", {"type": "object"}, open_to_all=True),
        "/metrics": _get("Figures for Prometheus.", None),
        "/v1/models": _get("The models and what they can be asked.", {"type": "object"}),
        "/process": {
            "get": {
                "summary": "Tag a short text, as UDPipe's service does.",
                "parameters": [
                    {"name": n, "in": "query", "required": n in form["required"], "schema": schema}
                    for n, schema in form["properties"].items()
                ],
                "responses": _responses({"type": "object"}),
            },
            "post": {
                "summary": "Tag text, as UDPipe's service does.",
                "requestBody": {
                    "required": True,
                    "content": {"application/x-www-form-urlencoded": {"schema": form}},
                },
                "responses": _responses({"type": "object"}),
            },
        },
    }
    for served in store:
        path = f"/v1/models/{served.name}"
        paths[path] = _get("What a model is like.", {"type": "object"})
        for name in operations_of(served):
            operation = OPERATIONS[name]
            schema = _schema(operation, served, limits)
            paths[f"{path}:{name}"] = {
                "post": {
                    "summary": operation.summary,
                    "operationId": f"{served.name}_{name}",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": schema}},
                    },
                    "responses": _responses(_ANSWER),
                }
            }
    return {
        "openapi": "3.1.0",
        "info": {"title": "sigmastar", "version": __version__},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    }


_ANSWER = {
    "type": "object",
    "required": ["model", "outputs"],
    "properties": {"model": {"type": "string"}, "outputs": {"type": "array"}},
}
_NUMBER = {"type": "number", "exclusiveMinimum": -1e300, "exclusiveMaximum": 1e300}
_PROBLEM = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def _form(store: ModelStore) -> dict[str, Any]:
    taggers = [served.name for served in store if served.model.kind in TEXT_TAGGERS]
    return {
        "type": "object",
        "required": ["data"] if len(taggers) == 1 else ["data", "model"],
        "properties": {
            "data": {"type": "string"},
            # Empty is as good as left out.
            "model": {"type": "string", "enum": [*taggers, ""] if len(taggers) == 1 else taggers},
            "input": {"type": "string", "enum": ["horizontal", "vertical", "conllu", ""]},
            "output": {"type": "string", "enum": ["conllu", "horizontal", "vertical", ""]},
        },
    }


def _schema(operation: Operation, served: Served, limits: Limits) -> dict[str, Any]:
    kind = served.model.kind
    properties: dict[str, Any] = {}
    if operation.has_inputs:
        item: dict[str, Any] = {
            "oneOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": ["string", "integer"]}},
            ]
        }
        if kind in ("ContinuousTagger", "MeasurementHMM"):
            frame = {"type": "array", "items": _NUMBER, **_exactly(width_of(served))}
            item = {"type": "array", "items": frame}
        elif kind == "Pipeline":
            item = {"type": "string"}
        elif kind in TEXT_TAGGERS:
            words = {"type": "string", "pattern": WORD}
            item = {"oneOf": [{"type": "string"}, {"type": "array", "items": words}]}
        properties["inputs"] = {"type": "array", "maxItems": limits.batch, "items": item}
    for name, (low, high, _) in (operation.options or {}).items():
        properties[name] = {"type": ["integer", "null"], "minimum": low, "maximum": high}
    required = ["inputs"] if operation.has_inputs else []
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _exactly(number: int) -> dict[str, int]:
    return {"minItems": number, "maxItems": number}


def _get(
    summary: str, schema: dict[str, Any] | None, *, open_to_all: bool = False
) -> dict[str, Any]:
    found: dict[str, Any] = {"summary": summary, "responses": _responses(schema)}
    if open_to_all:
        found["security"] = []
    return {"get": found}


def _responses(schema: dict[str, Any] | None) -> dict[str, Any]:
    content = {"text/plain": {}} if schema is None else {"application/json": {"schema": schema}}
    problem = {"application/json": {"schema": _PROBLEM}}
    return {"200": {"description": "The answer.", "content": content}} | {
        status: {"description": words, "content": problem} for status, words in _ERRORS.items()
    }
