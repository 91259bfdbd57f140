"""The weights of an ONNX file, read without its package: initializers of f32, in the file or beside it."""
import os

from _peer import Absent, package

FLOAT = 1  # TensorProto.DataType


def varint(data, at):
    """A number of the wire format, and where it ends."""
    value = shift = 0
    while data[at] >= 128:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def fields(data):
    """(number, value) of a message: integers, and bytes as views."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        n = {1: 8, 5: 4}.get(key & 7)
        if n is None:
            n, at = varint(data, at)
        yield key >> 3, data[at:at + n]
        at += n


def packed(value):
    """Integers of a repeated field: one alone, or many in one piece."""
    if isinstance(value, int):
        return [value]
    at, all_of_them = 0, []
    while at < len(value):
        number, at = varint(value, at)
        all_of_them.append(number)
    return all_of_them


def values(tensor, folder):
    """name, array of a TensorProto; None where it is not of f32."""
    numpy = package("numpy")
    dims, name, kind, raw, single, outside = [], "", 0, None, None, {}
    for number, value in fields(tensor):
        if number == 1:
            dims += packed(value)
        elif number == 2:
            kind = value
        elif number == 4:
            single = value
        elif number == 8:
            name = bytes(value).decode()
        elif number == 9:
            raw = value
        elif number == 13:
            pair = {k: bytes(v).decode() for k, v in fields(value)}
            outside[pair[1]] = pair[2]
    if kind != FLOAT:
        return name, None
    if outside:
        count = int(outside["length"]) // 4 if "length" in outside else -1
        path, begin = os.path.join(folder, outside["location"]), int(outside.get("offset", 0))
        raw = numpy.fromfile(path, "<f4", count, offset=begin)
        return name, raw.reshape(dims)
    held = raw if raw is not None else single
    return name, None if held is None else numpy.frombuffer(held, "<f4").reshape(dims)


def weights(path):
    """{name: array}"""
    try:
        with open(path, "rb") as f:
            data = memoryview(f.read())
    except OSError as why:
        raise Absent(f"it cannot read {path}: {why.strerror}") from None
    tensors = [t for n, graph in fields(data) if n == 7 for m, t in fields(graph) if m == 5]
    return {name: array for name, array in (values(t, os.path.dirname(path)) for t in tensors) if array is not None}
