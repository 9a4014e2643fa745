"""``sigmastar doctor``: is everything here, does it compute right, how fast."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sigmastar.cli import options
from sigmastar.cli.options import option
from sigmastar.cli.output import emit_json, out, shown

__all__ = ["doctor"]


def doctor(
    warm: Annotated[
        bool, option("--warm", "Compile the kernels of all parts, and keep them.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Check the installation: versions, threads, BLAS, optional parts, data, a real computation.

    The self-check learns a small machine from its exact moments and compares
    the probabilities of 127 strings with the truth. Ends with 1 if it fails.
    Put what this prints (or --json) into reports of problems. --warm runs every
    part of the package on a few data, so that nothing is left to compile later:
    in the recipe of a container, or before a demonstration.

    [bold]Examples[/]
    sigmastar doctor
    sigmastar doctor --json
    sigmastar doctor --warm
    """
    from sigmastar.cli.checkup import examine

    found = examine()
    if warm:
        from sigmastar.bench.warm import compile_all

        found["warm"] = compile_all()
    if json:
        emit_json(found)
    else:
        _show(found)
    if not found["ok"]:
        raise typer.Exit(1)


def _show(found: dict[str, Any]) -> None:
    for title, lines in (
        ("Versions", _versions),
        ("Computing", _computing),
        ("Optional parts", _optional),
        ("Data", _data),
        ("Self-check", _self_check),
    ):
        out.print(f"[bold]{title}[/]")
        for good, name, text in lines(found):
            mark = {True: "[green]✓[/]", False: "[red]✗[/]", None: "[yellow]–[/]"}[good]
            out.print(f"  {mark} {shown(name):24} {shown(text)}", soft_wrap=True)
    if "warm" in found:
        made = found["warm"]
        out.print(f"Compiled {made['kernels']} kernels in {made['seconds']:.0f} s.")
    verdict = "[bold green]All is well.[/]" if found["ok"] else "[bold red]Something is wrong.[/]"
    out.print(verdict)


# Each part gives lines: good, bad or (None) merely absent; a name; what there is to say.
Line = tuple[bool | None, str, str]


def _broken(part: Any, name: str) -> list[Line]:
    broken = isinstance(part, dict) and "error" in part
    return [(False, name, part["error"])] if broken else []


def _versions(found: dict[str, Any]) -> list[Line]:
    return [
        (version is not None, name, version or "not installed")
        for name, version in found["versions"].items()
    ]


def _computing(found: dict[str, Any]) -> list[Line]:
    threads, blas, code = found["threads"], found["blas"], found["compiled_code"]
    lines = _broken(threads, "threads") or [
        (True, "cores", f"{threads['usable_cores']} of {threads['cores']} usable"),
        (True, "threads of compiled code", f"{threads['numba_threads']}"),
    ]
    if "error" in blas:
        lines += _broken(blas, "BLAS")
    else:
        for entry in blas["libraries"]:
            text = f"{entry['version']}, {entry['threads']} threads ({entry['file']})"
            lines.append((True, f"BLAS {entry['library']}", text))
        size = blas["matrix_size"]
        text = f"{blas['gflops']:.1f} GFLOP/s (products of {size} × {size} matrices)"
        lines.append((True, "matrix products", text))
    if "error" in code:
        return lines + _broken(code, "compiled code")
    if code["switched_off"]:
        text = "switched off by NUMBA_DISABLE_JIT: everything works, slowly"
        return [*lines, (None, "compiled code", text)]
    text = f"{code['compiled']} functions kept in {code['directory']}"
    if not code["writable"]:
        text += ", which cannot be written to: set NUMBA_CACHE_DIR to a directory that can"
    return [*lines, (True if code["writable"] else None, "compiled code", text)]


def _optional(found: dict[str, Any]) -> list[Line]:
    return _broken(found["optional"], "optional parts") or [
        (
            True if part["version"] else None,
            part["package"],
            f"{part['version']}, for {part['purpose']}"
            if part["version"]
            else f"missing, for {part['purpose']}: {part['install']}",
        )
        for part in found["optional"]
    ]


def _data(found: dict[str, Any]) -> list[Line]:
    data = found["data"]
    if "error" in data:
        return _broken(data, "data")
    named = data["SIGMASTAR_DATA"]
    lines: list[Line] = [
        (True if named else None, "$SIGMASTAR_DATA", named or "not set"),
        (True, "cache", data["cache"]),
    ]
    for name, count in data["sets"].items():
        present, files = count["present"], count["files"]
        if present == files:
            lines.append((True, name, f"all {files} files" if files > 1 else "there"))
        else:
            text = f"{present} of {files} files here" if present else "not here"
            lines.append((None, name, f"{text}, downloaded when asked for"))
    return lines


def _self_check(found: dict[str, Any]) -> list[Line]:
    check = found["self_check"]
    if "error" in check:
        return _broken(check, "failed")
    text = (
        f"a machine learned back from its exact moments: {check['strings']} strings, largest "
        f"deviation {check['largest_deviation']:.0e} (allowed {check['tolerance']:.0e}), "
        f"{check['seconds']:.3f} s and {check['compile_seconds']:.1f} s to load or compile"
    )
    return [(check["ok"], "OK" if check["ok"] else "failed", text)]
