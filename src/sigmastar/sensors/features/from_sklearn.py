"""Fitted scikit-learn features as plain arrays, where their kind is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sigmastar.core.types import FloatArray
from sigmastar.sensors.features.centroids import CentroidFeatures
from sigmastar.sensors.features.forest import TreeEnsemble
from sigmastar.sensors.features.stages import Affine, FeatureStage, Softmax

__all__ = ["to_stages"]


def to_stages(fitted: Any) -> tuple[FeatureStage, ...] | None:
    """Give the stages that do what a fitted estimator does, or None if its kind is not known."""
    if isinstance(fitted, Pipeline):
        parts = [to_stages(step) for _, step in fitted.steps if step not in (None, "passthrough")]
        if any(part is None for part in parts):
            return None
        return tuple(stage for part in parts if part is not None for stage in part)
    if isinstance(fitted, CentroidFeatures):
        return fitted.stages()
    if isinstance(fitted, StandardScaler):
        width = fitted.n_features_in_
        shift = fitted.mean_ if fitted.with_mean else np.zeros(width)
        scale = fitted.scale_ if fitted.with_std else np.ones(width)
        return (Affine(shift, scale),)
    if isinstance(fitted, LogisticRegression):
        weights, bias = fitted.coef_, fitted.intercept_
        if len(weights) == 1:  # two classes: one row of weights, for the second
            weights = np.concatenate([np.zeros_like(weights), weights])
            bias = np.concatenate([np.zeros_like(bias), bias])
        return (Softmax(weights, bias),)
    if isinstance(fitted, (RandomForestClassifier, ExtraTreesClassifier)):
        return (_forest([tree.tree_ for tree in fitted.estimators_], fitted),)
    if isinstance(fitted, DecisionTreeClassifier):
        return (_forest([fitted.tree_], fitted),)
    if isinstance(fitted, GradientBoostingClassifier):
        return _boosted(fitted)
    return None


def _forest(trees: list[Any], fitted: Any) -> TreeEnsemble:
    values = []
    for tree in trees:
        counts = tree.value[:, 0, :]
        values.append(counts / counts.sum(axis=1, keepdims=True))
    bias = np.zeros(len(fitted.classes_))
    return _stack(trees, values, bias, "mean", int(fitted.n_features_in_))


def _boosted(fitted: GradientBoostingClassifier) -> tuple[FeatureStage, ...] | None:
    n_classes = len(fitted.classes_)
    if fitted.loss != "log_loss" or not isinstance(fitted.init_, DummyClassifier):
        return None
    first = 1 if n_classes == 2 else 0  # of two classes, trees speak for the second alone
    trees, values = [], []
    for row in fitted.estimators_:
        for position, regressor in enumerate(row, start=first):
            value = np.zeros((regressor.tree_.node_count, n_classes))
            value[:, position] = fitted.learning_rate * regressor.tree_.value[:, 0, 0]
            trees.append(regressor.tree_)
            values.append(value)
    least = np.finfo(np.float32).eps
    prior = np.clip(fitted.init_.class_prior_, least, 1.0 - least if first else None)
    return (_stack(trees, values, np.log(prior), "softmax", int(fitted.n_features_in_)),)


def _stack(
    trees: list[Any], values: list[FloatArray], bias: FloatArray, link: str, width: int
) -> TreeEnsemble:
    roots = np.concatenate([[0], np.cumsum([tree.node_count for tree in trees])[:-1]])
    children = []
    for tree, root in zip(trees, roots, strict=True):
        pair = np.stack([tree.children_left, tree.children_right], axis=1).astype(np.int64)
        children.append(np.where(pair >= 0, pair + root, -1))
    return TreeEnsemble(
        children=np.concatenate(children),
        split=np.concatenate([tree.feature for tree in trees]).astype(np.int64),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        value=np.concatenate(values),
        roots=roots.astype(np.int64),
        bias=bias,
        link=link,
        width=width,
    )
