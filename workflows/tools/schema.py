"""JSON Schema 2020-12 for arguments and inputs: is the schema sound, and what is wrong with a value by it."""

from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from workflows.errors import Flaw

if TYPE_CHECKING:
    from collections.abc import Iterator

# A person mends a few at a time; a list of 10,000 wrong items helps nobody.
MOST_FLAWS = 20


def flaws(schema: dict[str, Any], value: object, *, root: str) -> list[Flaw]:
    """Everything wrong with `value` (at most 20), each at its dotted path below `root`. Formats are asserted."""
    validator = _validator(json.dumps(schema, sort_keys=True))
    found: list[Flaw] = []
    try:
        for error in validator.iter_errors(value):
            found += _flaws_of(error, root)
            if len(found) >= MOST_FLAWS:
                break
    except RecursionError:
        return [Flaw(root, "…", "is nested too deep to be checked")]
    return found[:MOST_FLAWS]


def flaws_of_schema(schema: object, *, path: str) -> list[Flaw]:
    """What makes this no usable schema of an object: unsound, not about an object, or with a reference elsewhere."""
    if not isinstance(schema, dict):
        return [Flaw(path, schema, "must be a JSON Schema of an object")]
    try:
        Draft202012Validator.check_schema(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    except SchemaError as error:
        where = ".".join([path, *map(str, error.absolute_path)])
        return [Flaw(where, error.instance, f"is no valid JSON Schema 2020-12: {error.message[:300]}")]
    if schema.get("type") != "object":
        return [Flaw(f"{path}.type", schema.get("type"), 'must be "object"')]
    return list(_references(schema, path, Registry().with_resource("", DRAFT202012.create_resource(schema))))


def _flaws_of(error: ValidationError, root: str) -> Iterator[Flaw]:
    path = ".".join([root, *map(str, error.absolute_path)])
    if error.validator == "required":
        for name in error.validator_value:
            if name not in error.instance:
                yield Flaw(f"{path}.{name}", None, "is missing")
    elif error.validator == "additionalProperties" and error.validator_value is False:
        known, patterns = error.schema.get("properties", {}), error.schema.get("patternProperties", {})
        for name in error.instance:
            if name not in known and not any(re.search(pattern, name) for pattern in patterns):
                yield Flaw(f"{path}.{name}", error.instance[name], f"isn't known; known: {', '.join(known) or 'none'}")
    else:
        yield Flaw(path, error.instance, _says(error))


def _says(error: ValidationError) -> str:
    wanted = json.dumps(error.validator_value, ensure_ascii=False)[:200]
    match error.validator:
        case "type":
            return f"must be of type {wanted}"
        case "enum":
            return f"must be one of {wanted}"
        case "const":
            return f"must be {wanted}"
        case _:
            return f"breaks {error.validator}: {wanted}"


def _references(schema: object, path: str, registry: Registry[Any]) -> Iterator[Flaw]:
    """Only references inside the schema that lead somewhere: nothing is ever fetched to check an argument."""
    if isinstance(schema, dict):
        for name, part in schema.items():
            if name in ("$ref", "$dynamicRef") and isinstance(part, str):
                try:
                    registry.resolver().lookup(part)
                except Unresolvable:
                    yield Flaw(f"{path}.{name}", part, "leads nowhere inside this schema")
            elif name not in ("const", "enum", "default", "examples"):
                yield from _references(part, f"{path}.{name}", registry)
    elif isinstance(schema, list):
        for number, part in enumerate(schema):
            yield from _references(part, f"{path}.{number}", registry)


@functools.lru_cache(maxsize=1024)
def _validator(text: str) -> Draft202012Validator:
    # An empty registry: without it the library would fetch an unknown reference over the network.
    return Draft202012Validator(json.loads(text), registry=Registry(), format_checker=FormatChecker())
