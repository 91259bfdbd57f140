"""formats.py SCHEMAS MADE: every MADE/NAME.N.json is what SCHEMAS/NAME.json says, every schema is met by something, and
says itself nothing that this does not check: of JSON Schema (2020-12) what docs/formats uses."""
import json, os, re, sys

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "properties", "required",
         "additionalProperties", "propertyNames", "items", "enum", "const", "pattern", "minimum", "anyOf", "minItems"}


def is_kind(v, kind):
    if kind in ("number", "integer"):
        return isinstance(v, (int, float)) and not isinstance(v, bool) and (kind == "number" or v == int(v))
    return isinstance(v, KINDS[kind])


def referred(ref, root):
    """The schema that a reference leads to, as "FILE#/a/b" or "#/a/b", and the document it stands in."""
    file, path = ref.split("#/")
    if file:
        with open(f"{FOLDER}/{file}") as f:
            root = json.load(f)
    s = root
    for part in path.split("/"):
        s = s[part]
    return s, root


def check(v, s, root, at):
    """Yields what is wrong with v, as lines that start with its place."""
    if s is True:
        return
    if s is False:
        yield f"{at}: not expected"
        return
    assert not set(s) - KNOWN, f"the schema uses {set(s) - KNOWN}"
    if "$ref" in s:
        yield from check(v, *referred(s["$ref"], root), at)
    kinds = s.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(v, k) for k in kinds):
        yield f"{at}: {json.dumps(v)[:60]} is not of type {' or '.join(kinds)}"
        return
    if "const" in s and v != s["const"]:
        yield f"{at}: {json.dumps(v)[:60]} is not {json.dumps(s['const'])}"
    if "enum" in s and v not in s["enum"]:
        yield f"{at}: {json.dumps(v)[:60]} is none of {s['enum']}"
    if "anyOf" in s and not any(not list(check(v, o, root, at)) for o in s["anyOf"]):
        yield f"{at}: fits none of the forms that it may have"
    if isinstance(v, str) and "pattern" in s and not re.search(s["pattern"], v):
        yield f"{at}: {v[:60]!r} does not look like {s['pattern']}"
    if "minimum" in s and is_kind(v, "number") and v < s["minimum"]:
        yield f"{at}: {v} is less than {s['minimum']}"
    if isinstance(v, list):
        if len(v) < s.get("minItems", 0):
            yield f"{at}: fewer than {s['minItems']} items"
        for i, item in enumerate(v):
            yield from check(item, s.get("items", True), root, f"{at}/{i}")
    if isinstance(v, dict):
        for key in s.get("required", []):
            if key not in v:
                yield f"{at}: no \"{key}\""
        # Readers pass over what they do not know; here all is known.
        closed = "properties" in s and "additionalProperties" not in s
        for key, item in v.items():
            if closed and key not in s["properties"]:
                yield f"{at}/{key}: docs/formats does not tell of it"
            if "propertyNames" in s:
                yield from check(key, s["propertyNames"], root, f"{at} (a key)")
            yield from check(item, s.get("properties", {}).get(key, s.get("additionalProperties", True)), root,
                             f"{at}/{key}")


def main(schemas, made):
    bad, met = 0, set()
    for name in sorted(os.listdir(made)):
        kind = name.split(".")[0]
        met.add(kind)
        with open(f"{schemas}/{kind}.json") as f:
            schema = json.load(f)
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema" and schema["title"] and \
            schema["description"], kind
        try:
            with open(f"{made}/{name}") as f:
                value = json.load(f)
        except ValueError as e:
            print(f"{name}: no JSON: {e}", file=sys.stderr)
            bad += 1
            continue
        wrong = list(check(value, schema, schema, kind))
        # a schema that lets everything through tells nothing: without one of its members nothing may pass
        for key in schema.get("required", []):
            assert list(check({k: v for k, v in value.items() if k != key}, schema, schema, kind)), (kind, key)
        for line in wrong[:8]:
            print(line, file=sys.stderr)
        bad += bool(wrong)
    for name in sorted(set(n[:-5] for n in os.listdir(schemas) if n.endswith(".json")) - met):
        print(f"nothing was made of {name}", file=sys.stderr)
        bad += 1
    print(f"{len(os.listdir(made))} documents, {bad} wrong")
    return bad > 0


FOLDER = sys.argv[1]
sys.exit(main(*sys.argv[1:]))
