"""Labels 0, 1, ... of axes that "..." stood for become letters that numpy's einsum knows."""
import re
import numpy as np


def contract(x, equation):
    spare = iter(sorted(set("ZYXWVUTS") - set(equation)))
    names = {digit: next(spare) for digit in sorted(set(re.findall("[0-9]", equation)))}
    return np.einsum("".join(names.get(c, c) for c in equation), *x)
