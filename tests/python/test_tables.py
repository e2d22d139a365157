"""docs/tables.md must list the package's tables, and the examples of docs/python.md must run."""

import contextlib
import io
import os
import re
import shutil
import tempfile
import unittest

import support
from lanescope import _tables_page


class Pages(unittest.TestCase):
    def test_the_page_of_tables_is_what_the_package_prints(self):
        self.assertEqual((support.ROOT / "docs/tables.md").read_text(), _tables_page.page())

    def test_examples_of_the_guides_run(self):
        pages = [(support.ROOT / "docs" / name).read_text() for name in ("python.md", "fleets.md")]
        examples = [example for page in pages for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]
        self.assertGreater(len(examples), 4)
        os.environ["LANESCOPE"] = support.program()
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(support.recording("torch_training_workers0"), f"{folder}/run.trace")
            shutil.copy(support.recording("torch_training_workers4"), f"{folder}/faster.trace")
            for rank in (0, 1):
                shutil.copy(support.recording(f"ranks_late{rank}"), f"{folder}/rank{rank}.trace")
            os.chdir(folder)
            try:
                names = {}
                for number, example in enumerate(examples):
                    with self.subTest(example=number):
                        try:
                            with contextlib.redirect_stdout(io.StringIO()) as said:
                                exec(compile(example, f"example {number}", "exec"), names)
                        except ImportError as missing:
                            self.skipTest(str(missing))
                        self.assertTrue(said.getvalue())
            finally:
                os.chdir(before)


if __name__ == "__main__":
    unittest.main()
