"""A Hydra launcher that takes all jobs of a sweep as one computation.

Hydra finds plugins in the namespace package `hydra_plugins` and nowhere else; that is why it is not in `inflect`.
"""

from collections.abc import Sequence
from pathlib import Path

from hydra.core.utils import JobReturn, JobStatus, configure_log, run_job
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict

from inflect.experiment.commands import complete, job_of


class StackedLauncher(Launcher):
    """Composes every job, then runs all together; each has its own Hydra folder, config, log and record."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.config = hydra_context, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        folder = Path(str(self.config.hydra.sweep.dir))
        folder.mkdir(parents=True, exist_ok=True)
        with open_dict(self.config):
            self.config.hydra.runtime.output_dir = str(folder.absolute())
        configure_log(self.config.hydra.job_logging, self.config.hydra.verbose)
        returns = [
            self._compose(list(overrides), number)
            for number, overrides in enumerate(job_overrides, start=initial_job_idx)
        ]
        complete([job.return_value for job in returns])
        return returns

    def _compose(self, overrides: list[str], number: int) -> JobReturn:
        """The job's settings, and its folder with Hydra's own record of its config; raises what is wrong with it."""
        config = self.hydra_context.config_loader.load_sweep_config(self.config, overrides)
        with open_dict(config):
            config.hydra.job.id = config.hydra.job.num = number
        OmegaConf.set_struct(config, True)
        job = run_job(
            task_function=job_of,
            config=config,
            job_dir_key="hydra.sweep.dir",
            job_subdir_key="hydra.sweep.subdir",
            hydra_context=self.hydra_context,
            configure_logging=False,
        )
        if job.status == JobStatus.FAILED:
            raise job._return_value  # as `return_value` does, after a line with all overrides
        return job
