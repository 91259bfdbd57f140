"""built_in_ort.py TESSERA MODEL FILE.onnx FOLDER: the official checker accepts the file that the built-in model was
written to, and ONNX Runtime computes with it what Tessera computes with the model."""
import os, subprocess, sys
import numpy as np, onnx, onnxruntime as ort

tessera, model, file, folder = sys.argv[1:]
onnx.checker.check_model(file, full_check=True)
session = ort.InferenceSession(file, providers=["CPUExecutionProvider"])
rng, feed, given = np.random.default_rng(1), {}, []
os.makedirs(folder, exist_ok=True)
for i, port in enumerate(session.get_inputs()):
    whole = "int" in port.type
    feed[port.name] = rng.integers(0, 2, port.shape) if whole else rng.standard_normal(port.shape).astype(np.float32)
    np.save(f"{folder}/{i}.npy", feed[port.name])
    given += ["--in", f"{port.name}={folder}/{i}.npy"]
subprocess.run([tessera, "run", model, *given, "--out", folder, "-q"], check=True, stdout=subprocess.DEVNULL)
for port, got in zip(session.get_outputs(), session.run(None, feed)):
    want = np.load(f"{folder}/{port.name}.npy")
    scale = np.abs(want).max(initial=1e-30)
    if got.shape != want.shape or not np.abs(got - want).max(initial=0) <= 1e-4 * scale:
        sys.exit(f"{model}: output {port.name} differs in ONNX Runtime by {np.abs(got - want).max() / scale}")
