"""Models as a service: a JSON interface, a page for each model, health and metrics.

Read ``answers`` first: what each kind of model can be asked, as functions from a checked request to
an answer. ``store`` keeps the models, loads them once and again when their files change; ``app``
joins both into an application, ``limits`` guards it, ``openapi`` describes it, ``pages`` shows it,
``run`` starts it. Needs the extra ``serve`` (Starlette and uvicorn).
"""
