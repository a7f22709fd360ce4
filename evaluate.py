"""Print the table of all finished runs, or inflect a file: `python evaluate.py --help`."""

from inflect.experiment.commands import evaluate
from inflect.experiment.entry import script

if __name__ == "__main__":
    script(evaluate, "evaluate")
