"""The element types, numbers of operands and attributes that the table has are those of the specification: python3
onnx_types.py OPS.json. They are explained at `onnx` in graph/ir/op.h. Needs the onnx package;
not all of its versions know all operators."""
import collections
import json
import re
import sys

from onnx import defs

REAL = {"float", "double", "float16", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
        "float8e8m0", "float4e2m1"}
WHOLE = {f"{u}int{n}" for u in ("", "u") for n in (2, 4, 8, 16, 32, 64)}
NOT_HERE = {"string", "complex64", "complex128"}
VARIADIC = defs.OpSchema.FormalParameterOption.Variadic
LETTERS = {"f": "fF", "i": "iI", "n": "nN", "b": "bb", ".": ".T"}

LATEST = 28  # versions of the standard domain that the table knows
history = collections.defaultdict(list)
for schema in defs.get_all_schemas_with_history():
    if schema.domain == "" and schema.since_version <= LATEST:
        history[schema.name].append(schema)


def allowed(schema, at):
    """Element types of an operand; None: lists are among them."""
    p = schema.inputs[min(at, len(schema.inputs) - 1)]
    named = [c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == p.type_str]
    found = set()
    for word in named[0] if named else [p.type_str]:
        plain = re.fullmatch(r"tensor\((\w+)\)", word)
        if not plain and "seq" in word:
            return None
        found.add(plain.group(1) if plain else word)
    return found


def kind(types):
    types = types - NOT_HERE
    return ("b" if types <= {"bool"} else "f" if types <= REAL else "i" if types <= WHOLE else
            "n" if types <= REAL | WHOLE else ".")


def operands(name, since):
    """The letters for all versions from `since` on; None: none are to be had."""
    schemas = [s for s in history[name] if s.since_version >= since] or history[name][-1:]
    count = max(len(s.inputs) for s in schemas)
    has = [[s for s in schemas if k < len(s.inputs) or s.inputs and s.inputs[-1].option == VARIADIC]
           for k in range(count)]
    types = [[allowed(s, k) for s in has[k]] for k in range(count)]
    if not count or any(t is None for all in types for t in all):
        return None
    variadic = all(s.inputs and s.inputs[-1].option == VARIADIC and s.inputs[-1].is_homogeneous for s in schemas)

    def alike(j, k):
        return all(s.inputs[j].type_str == s.inputs[k].type_str and not s.inputs[k].type_str.startswith("tensor")
                   for s in schemas if k < len(s.inputs))

    first = [next((j for j in range(k) if alike(j, k)), None) for k in range(count)]
    lead = next((j for j in first if j is not None), None)
    text = "".join(LETTERS[kind(set().union(*types[k]))][variadic or (lead is not None and lead in (k, first[k]))]
                   for k in range(count))
    text = re.sub(r"(.)\1+$", r"\1", text)
    return "" if set(text) <= {"."} else text


def same(have, want):  # one operand, alike to itself
    return have == want or (len(want) == 1 and have.lower() == want.lower())


def taken(name):
    """As the words of `onnx` say, of all versions together; version 1's consumed_inputs mean nothing anywhere."""
    def most(n):
        return "*" if n > 1 << 30 else str(n)

    all = history[name]
    names = {a for s in all for a in s.attributes} - {"consumed_inputs"}
    return ",".join([most(max(s.max_input for s in all)), most(max(s.max_output for s in all)), *sorted(names)])


if defs.onnx_opset_version() < LATEST:
    print(f"this onnx package knows version {defs.onnx_opset_version()}, not {LATEST}")
    sys.exit(77)
bad = seen = 0
for op in json.load(open(sys.argv[1]))["ops"]:
    least = {}
    for rule in op["onnx"]:
        least[rule["type"]] = min(rule["since"], least.get(rule["type"], 99))
    for rule in op["onnx"]:
        name = rule["type"]
        if "takes" in rule and name in history and rule["takes"] != taken(name):
            bad += 1
            print(f"{op['name']}: {name} takes {taken(name)}, the table says {rule['takes']}")
        want = operands(name, least[name]) if name in history else None
        if want is None:
            continue
        seen += 1
        if not same(rule["operands"], want):
            bad += 1
            print(f"{op['name']}: {name} takes \"{want}\", the table says \"{rule['operands']}\"")
print(f"{seen} operators, {bad} not as the specification has them")
sys.exit(bad > 0 or seen < 100)
