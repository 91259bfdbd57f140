"""Models and pipelines of scikit-learn, LightGBM and XGBoost as their exporters write them, against ONNX Runtime:
python3 pipelines.py TESSERA FOLDER. Labels must be equal; those that are texts come as places in the list of
classes."""
import subprocess
import sys
import warnings

import numpy as np
import onnxruntime
import skl2onnx
from skl2onnx import update_registered_converter
from skl2onnx.common.shape_calculator import (calculate_linear_classifier_output_shapes,
                                              calculate_linear_regressor_output_shapes)
from sklearn import compose, ensemble, impute, linear_model, naive_bayes, neural_network, pipeline, preprocessing
from sklearn import svm, tree
from sklearn.datasets import make_classification, make_regression

warnings.filterwarnings("ignore")
TESSERA, FOLDER = sys.argv[1:]
runs = bad = 0


def to_onnx(*args, **options):
    try:
        return skl2onnx.to_onnx(*args, **options)
    except Exception as e:  # exporters that do not know the versions of the rest
        return str(e)[:60]


def agree(name, model, x, classes):
    global runs, bad
    if isinstance(model, str):
        print(f"{name}: not exported, {model}")
        return
    path = f"{FOLDER}/m.onnx"
    with open(path, "wb") as f:
        f.write(model.SerializeToString())
    np.save(f"{FOLDER}/x.npy", x)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = session.get_inputs()[0].name
    runs += 1
    said = subprocess.run([TESSERA, "run", path, "--in", f"{given}={FOLDER}/x.npy", "-o", f"{FOLDER}/out", "-q",
                           "--target", "interp" if runs % 4 else "c"], capture_output=True, text=True)
    if said.returncode:
        bad += 1
        print(f"{name}: {said.stderr}")
        return
    for port, want in zip(session.get_outputs(), session.run(None, {given: x})):
        y = np.load(f"{FOLDER}/out/{port.name}.npy")
        if isinstance(want, list):  # of ZipMap
            want = np.array([[row[c] for c in sorted(row)] for row in want], np.float32)
        elif want.dtype == object:
            want = np.array([classes.index(v) for v in want])
        whole = want.dtype.kind in "iu"
        same = y.shape == want.shape and (y == want).all() if whole else np.allclose(y, want, 1e-4, 1e-5)
        if not same:
            bad += 1
            print(f"{name}, {port.name}: got {y.ravel()[:9]}, wanted {want.ravel()[:9]}")


def trained(model, x, y):
    return pipeline.make_pipeline(preprocessing.StandardScaler(), model).fit(x, y)


def regressors():
    x, y = make_regression(200, 6, n_informative=5, random_state=1)
    x = x.astype(np.float32)
    two = np.stack([y, -y + x[:, 0]], 1)
    for model in (tree.DecisionTreeRegressor(max_depth=6), ensemble.RandomForestRegressor(12, max_depth=6),
                  ensemble.ExtraTreesRegressor(9), ensemble.GradientBoostingRegressor(n_estimators=20),
                  ensemble.HistGradientBoostingRegressor(max_iter=15), linear_model.LinearRegression(),
                  linear_model.Ridge(), svm.SVR(), svm.LinearSVR(), svm.NuSVR(kernel="poly"),
                  neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=50)):
        yield type(model).__name__, to_onnx(trained(model, x, y), x[:1]), x, None
    for model in (tree.DecisionTreeRegressor(max_depth=4), ensemble.RandomForestRegressor(5, max_depth=4)):
        yield type(model).__name__ + " of two", to_onnx(trained(model, x, two), x[:1]), x, None
    gaps = np.where(np.random.default_rng(1).random(x.shape) < 0.1, np.nan, x).astype(np.float32)
    model = ensemble.HistGradientBoostingRegressor(max_iter=15).fit(gaps, y)
    yield "HistGradientBoosting with gaps", to_onnx(model, gaps[:1]), gaps, None
    model = pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.Normalizer(), linear_model.Lasso())
    model.fit(gaps, y)
    yield "imputed", to_onnx(model, gaps[:1]), gaps, None
    whole = np.floor(x[:, :2] * 2).clip(-2, 2)
    parts = compose.ColumnTransformer([("one", preprocessing.OneHotEncoder(handle_unknown="ignore"), [0, 1]),
                                       ("bins", preprocessing.Binarizer(), [2]), ("rest", "passthrough", [3, 4, 5])])
    mixed = np.concatenate([whole, x[:, 2:]], 1).astype(np.float32)
    yield "columns", to_onnx(pipeline.make_pipeline(parts, linear_model.Ridge()).fit(mixed, y), mixed[:1]), mixed, None


def classifiers():
    for n, texts in ((2, False), (2, True), (4, False), (3, True)):
        x, y = make_classification(200, 6, n_informative=5, n_redundant=1, n_classes=n, random_state=1)
        x, names = x.astype(np.float32), ["ant", "bee", "cat", "dog"][:n]
        y = np.array(names)[y] if texts else y
        for model in (tree.DecisionTreeClassifier(max_depth=5), ensemble.RandomForestClassifier(8, max_depth=5),
                      ensemble.ExtraTreesClassifier(6, max_depth=5),
                      ensemble.GradientBoostingClassifier(n_estimators=6),
                      ensemble.HistGradientBoostingClassifier(max_iter=5), linear_model.LogisticRegression(),
                      linear_model.SGDClassifier(), svm.SVC(), svm.SVC(probability=True), svm.LinearSVC(),
                      naive_bayes.GaussianNB(),
                      neural_network.MLPClassifier(hidden_layer_sizes=(8,), max_iter=50)):
            fitted = trained(model, x, y)
            for zipped in (True, False):
                options = {id(fitted): {"zipmap": zipped}} if hasattr(model, "predict_proba") else {}
                yield f"{type(model).__name__} {n} {texts} {zipped}", to_onnx(fitted, x[:1], options=options), x, names


def boosted():
    """LightGBM's and XGBoost's, where they are installed."""
    xr, yr = make_regression(200, 6, random_state=1)
    xr = np.where(np.random.default_rng(1).random(xr.shape) < 0.1, np.nan, xr).astype(np.float32)
    try:
        import lightgbm
        from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm
        import xgboost
        from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost
    except ImportError as e:
        print(f"no {e.name}: left out")
        return
    kinds = [(lightgbm.LGBMRegressor, convert_lightgbm, calculate_linear_regressor_output_shapes),
             (lightgbm.LGBMClassifier, convert_lightgbm, calculate_linear_classifier_output_shapes),
             (xgboost.XGBRegressor, convert_xgboost, calculate_linear_regressor_output_shapes),
             (xgboost.XGBClassifier, convert_xgboost, calculate_linear_classifier_output_shapes)]
    for make, convert, shapes in kinds:
        classifies = "Classifier" in make.__name__
        more = {"options": {"nocl": [True, False], "zipmap": [True, False, "columns"]}} if classifies else {}
        update_registered_converter(make, make.__name__, shapes, convert, **more)
        quiet = {"verbose": -1} if make.__module__.startswith("lightgbm") else {}
        for n in (2, 3) if classifies else (1,):
            x, y = xr, yr
            if classifies:
                x, y = make_classification(300, 6, n_informative=5, n_redundant=1, n_classes=n, random_state=1)
            x = x.astype(np.float32)
            model = pipeline.make_pipeline(preprocessing.StandardScaler(), make(n_estimators=10, max_depth=4, **quiet))
            made = to_onnx(model.fit(x, y), x[:1], target_opset={"": 15, "ai.onnx.ml": 3})
            yield f"{make.__name__} {n}", made, x, None


for group in (regressors, classifiers, boosted):
    for one in group():
        agree(*one)
print(f"{runs} models, {bad} bad")
sys.exit(bad > 0 or runs < 60)
