"""Train, or with -m sweep: `python train.py --help`."""

from inflect.experiment.commands import train
from inflect.experiment.entry import script

if __name__ == "__main__":
    script(train, "train")
