"""From a table to a saved model in a minute: run it with `make demo`."""

from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

import bayeskit
from bayeskit import NaiveBayes, datasets

FILE = Path("demo-output") / "heart.bayes"


def title(text):
    print(f"\n{text}\n{'─' * len(text)}")


def line(what, share):
    print(f"{what:38} {share:.3f}  {'█' * round(share * 40)}")


def some_rows(table, rows):
    return {name: [column[i] for i in rows] for name, column in table.items()}


def cross_validated_accuracy(table, target, n_folds=10):
    labels = np.array(table[target])
    right = 0
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(labels, labels):
        model = NaiveBayes().fit(some_rows(table, train), target=target)
        right += (model.predict(some_rows(table, test)) == labels[test]).sum()
    return right / len(labels)


def main():
    heart = datasets.load_heart()
    n_rows, missing = len(heart["disease"]), sum(column.count(None) for column in heart.values())
    print(f"Heart disease: {n_rows} patients, {len(heart) - 1} columns of text and numbers, {missing} cells missing.")

    title("1. Count: one pass over the table, as it is")
    model = NaiveBayes().fit(heart, target="disease")
    for label, prior in zip(model.classes_, model.class_prior_, strict=True):
        line(f"P(disease = {label})", prior)
    print(f"\n{model.tables_['chest_pain']}")

    title("2. Believe: is it any good on rows it has not seen?")
    line("always the larger class", model.class_count_.max() / n_rows)
    line("naive Bayes, 10-fold cross-validation", cross_validated_accuracy(heart, "disease"))

    title("3. Ask: one patient of the table, one cell unknown")
    patient = {name: column[287] for name, column in heart.items() if name != "disease"}
    print(*(f"{name:16} {'?' if value is None else value}" for name, value in patient.items()), sep="\n")
    posterior = model.predict_proba(patient)[0]
    for label, share in zip(model.classes_, posterior, strict=True):
        line(f"P(disease = {label} | what is known)", share)
    print("The unknown cell is summed out, not guessed.")

    title("4. Keep: save the model and load it again")
    FILE.parent.mkdir(exist_ok=True)
    model.save(FILE)
    same = np.array_equal(bayeskit.load(FILE).predict_proba(heart), model.predict_proba(heart))
    print(f"{FILE}, {FILE.stat().st_size} bytes; loaded again it gives {'the same' if same else 'OTHER'} numbers.")

    title("Made: the model file. Try next:")
    print(f"in Python                 model = bayeskit.load('{FILE}'); model.tables_['age']")
    print("docs/start/first_steps.md the same steps, explained")
    print("docs/howto/any_table.md   missing and unseen values, kinds, weights, batches, pipelines")


if __name__ == "__main__":
    main()
