"""Puts the corpus into the wheel: `cassettes/` and `expected/`, as `harness/corpus/`.

An editable install has none, and reads the checkout's.
"""

import shutil
from pathlib import Path
from typing import ClassVar

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithCorpus(build_py):
    """`build_py`, and the corpus beside the modules."""

    CORPUS: ClassVar[tuple[str, ...]] = ("cassettes", "expected")

    def run(self) -> None:
        """Build the modules, then copy the corpus."""
        super().run()
        if self.editable_mode:
            return
        # A build folder may hold what an earlier corpus had.
        shutil.rmtree(self._built, ignore_errors=True)
        for source, built in self._corpus():
            self.mkpath(str(built.parent))
            self.copy_file(str(source), str(built), preserve_mode=False)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:  # noqa: FBT001, FBT002
        """Return what is built, as installers ask for it."""
        corpus = [] if self.editable_mode else [str(built) for _, built in self._corpus()]
        return [*super().get_outputs(include_bytecode), *corpus]

    def get_source_files(self) -> list[str]:
        """Return what a source distribution needs, the corpus too."""
        return [*super().get_source_files(), *(str(source) for source, _ in self._corpus())]

    @property
    def _built(self) -> Path:
        return Path(self.build_lib) / "harness" / "corpus"

    def _corpus(self) -> list[tuple[Path, Path]]:
        """Each file of the corpus, and where it is built."""
        files = (path for root in self.CORPUS for path in sorted(Path(root).glob("*/*/*.jsonl")))
        return [(path, self._built / path) for path in files]


setup(cmdclass={"build_py": BuildWithCorpus})
