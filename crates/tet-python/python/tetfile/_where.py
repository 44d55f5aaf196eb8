"""Tests of elements, as ``where`` takes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ._errors import UsageError

_NAMES = {"==": "eq", "=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_TEST = re.compile(r"\s*(==|!=|<=|>=|=|<|>|eq\b|ne\b|lt\b|le\b|gt\b|ge\b)\s*(\S+)\s*")
_NULLS = {"null": "is_null", "is_null": "is_null", "not-null": "is_not_null", "is_not_null": "is_not_null"}


def filter_json(where: str | Mapping[str, Any] | None) -> str | None:
    """The filter of a query document, in JSON.

    Raises:
        UsageError: The text is no test.
    """
    if where is None:
        return None
    found = _of_text(where) if isinstance(where, str) else dict(where)
    return json.dumps(found, default=lambda number: number.item())


def _of_text(text: str) -> dict[str, Any]:
    tests: dict[str, Any] = {}
    for test in text.split(","):
        found = _TEST.fullmatch(test)
        name = _NULLS.get(test.strip()) if found is None else _NAMES.get(found[1], found[1])
        if name is None:
            hint = "write '> 273.15', '>= 0, < 40', '!= -9999' or 'not-null'"
            raise UsageError(f"{test.strip()!r} is no test of elements: {hint}")
        if name in tests:
            raise UsageError(f"{text!r} has the comparison {name!r} twice: use each once")
        tests[name] = True if found is None else _number(found[2])
    return tests


def _number(text: str) -> int | float | str:
    if text in ("inf", "-inf"):
        return "Infinity" if text == "inf" else "-Infinity"
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{text!r} is no number") from None
