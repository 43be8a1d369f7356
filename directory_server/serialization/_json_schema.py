"""JSON Schemas (2020-12) of attrs classes: the members from the types, the keywords from the fields' metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs

Schema = dict[str, Any]
Reference = Callable[[type], Schema]
"""Return the schema of an attrs class inside another schema."""

_SCALARS: Mapping[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
}


def object_schema(of: type, names: Sequence[str] | None = None, *, reference: Reference | None = None) -> Schema:
    """Return the schema of encoded instances of `of`, which have all fields, or only those in `names`.

    By default, the schemas of attrs classes in the fields are repeated in place.
    """
    properties = field_schemas(of, names, reference=reference)
    return {"type": "object", "properties": properties, "required": list(properties)}


def arguments_schema(of: type) -> Schema:
    """Return the schema of objects that `structure` accepts as `of`."""
    return {
        "type": "object",
        "properties": argument_schemas(of),
        "required": required_fields(of),
        "additionalProperties": False,
    }


def field_schemas(
    of: type, names: Sequence[str] | None = None, *, reference: Reference | None = None
) -> dict[str, Schema]:
    """Return the schema of each field of `of`, or of those in `names`: its type, and the keywords in its metadata."""
    return {
        each.name: {**_schema(each.type, reference or object_schema), **each.metadata}
        for each in attrs.fields(attrs.resolve_types(of))
        if names is None or each.name in names
    }


def argument_schemas(of: type) -> dict[str, Schema]:
    """Return the schema of each field of `of` in a request, with its default. None stands for an absent argument."""
    schemas: dict[str, Schema] = {}
    for each in attrs.fields(attrs.resolve_types(of)):
        kinds = [kind for kind in get_args(each.type) if kind is not NoneType]
        schema = _schema(kinds[0] if get_origin(each.type) is UnionType else each.type, object_schema)
        default = {} if each.default in (attrs.NOTHING, None) else {"default": each.default}
        schemas[each.name] = {**schema, **default, **each.metadata}
    return schemas


def required_fields(of: type) -> list[str]:
    """Return the names of the fields of `of` without a default."""
    return [each.name for each in attrs.fields(of) if each.default is attrs.NOTHING]


def _schema(kind: Any, reference: Reference) -> Schema:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if attrs.has(kind):
        return reference(kind)
    arguments = get_args(kind)
    match get_origin(kind):
        case origin if origin is Literal:
            return {**_SCALARS[type(arguments[0])], "enum": list(arguments)}
        case origin if origin in (Union, UnionType):
            return _nullable([_schema(argument, reference) for argument in arguments if argument is not NoneType])
        case origin if origin is Sequence:
            return {"type": "array", "items": _schema(arguments[0], reference)}
        case origin if origin is Mapping:
            values = {} if arguments[1] is Any else {"additionalProperties": _schema(arguments[1], reference)}
            return {"type": "object", **values}
        case _:
            raise TypeError(f"{kind} has no JSON Schema")


def _nullable(schemas: list[Schema]) -> Schema:
    (schema,) = schemas
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"oneOf": [schema, {"type": "null"}]}
