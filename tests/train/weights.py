"""Tensors as weights.safetensors, for the models that tests of training write."""
import json, struct


def save(tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        values = values.astype("<f4")
        header[name] = {"dtype": "F32", "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    header = json.dumps(header).encode()
    with open("weights.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header + data)
