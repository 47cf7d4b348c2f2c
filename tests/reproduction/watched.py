"""An experiment's quick form, with the progress and the notes it gave."""

from reproduction import Setting


def quick_run(experiment, folder):
    """The outcome, the steps of the progress and the notes."""
    steps, notes = [], []
    setting = Setting(
        folder, quick=True, progress=lambda *step: steps.append(step), note=notes.append
    )
    return experiment.run(setting), steps, notes
