"""Writes cases: arrays, documents about them, and what NumPy answers.

A line with `elements` is an array; the lines with `document` after it ask about it.
"""

import argparse
import json
import pathlib
import warnings

import numpy as np

import answers
import arrays
import documents


def main():
    """Writes as many cases as asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--size", type=int, default=150, help="elements of an array, at most")
    parser.add_argument("--each", type=int, default=8, help="documents for each array")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with options.out.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines(options.cases, options.seed, options.size, options.each):
            out.write(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n")


def lines(cases, seed, size, each):
    """The lines of a file."""
    for number in range(-(-cases // each)):
        rng = np.random.default_rng([seed, number])
        array = arrays.random_array(rng, size)
        yield {"seed": [seed, number], **array.sheet()}
        for _ in range(min(each, cases - number * each)):
            while True:
                document, spec = documents.Writer(rng, array).write()
                try:
                    want = answers.answer(array, spec)
                    break
                except answers.Unanswered:
                    continue
            name = spec.op or spec.method or "values"
            yield {"op": name, "form": spec.form, "document": document, "want": want}


if __name__ == "__main__":
    main()
