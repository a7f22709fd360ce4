"""Choose a subset of the pool and write it as TSV: `python select.py --help`.

The script shares its name with a standard-library module, so from this folder `import select` finds it first.
"""

if __name__ == "select":
    # Imported, not run: somebody (subprocess, asyncio, socket, ...) wants the standard library's `select`.
    # Find it along sys.path without this folder and leave it in sys.modules: that is what `import` gives out.
    # The modules used here need no `select` themselves. An interpreter that has `select` built in never asks
    # for this file.
    import os
    import sys
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120
    spec = PathFinder.find_spec("select", [folder for folder in sys.path if os.path.realpath(folder) != here])
    if spec is None or spec.loader is None:
        raise ImportError("the standard library's select module is not on sys.path")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["select"] = module

if __name__ == "__main__":
    from inflect.experiment.commands import select
    from inflect.experiment.entry import script

    script(select, "select")
