"""The magics, in IPython as notebooks run it."""

import asyncio
import os
import pathlib
import tempfile
import unittest
import warnings
import xml.etree.ElementTree as xml

import support

import lanescope

try:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from lanescope import _notebook
except ImportError:
    InteractiveShell = None


@unittest.skipIf(InteractiveShell is None, "notebooks are tested where IPython is installed")
class Magics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shell = InteractiveShell.instance()
        cls.shell.run_line_magic("load_ext", "lanescope")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def run_cell(self, text):
        """The printed output of a cell, and the HTML that it shows."""
        with capture_output() as said:
            self.shell.run_cell(text)
        return said.stdout + said.stderr, [output.data["text/html"] for output in said.outputs if "text/html" in output.data]

    def check_page(self, page):
        """The page must be complete and must load nothing from elsewhere."""
        self.assertNotIn("<script", page)
        self.assertNotRegex(page, r"(src|href)=")
        root = xml.fromstring(page)
        return root, root.findall("{http://www.w3.org/2000/svg}svg")

    def test_a_cell_runs_in_the_notebook_and_shows_its_recording(self):
        text, (page,) = self.run_cell("%%lanescope -t nvtx -s none --cpuctxsw=none -o 'with space.trace' -v trace -r nvtx_sum\n"
                                      "from lanescope import annotate\nwith annotate('<b>load</b>'):\n    for _ in range(3):\n"
                                      "        with annotate('inner'): answer = 6 * 7\nprint(answer)")
        self.assertIn("42", text)
        self.assertEqual(self.shell.user_ns["answer"], 42)
        root, pictures = self.check_page(page)
        self.assertEqual(len(pictures), 1)
        cells = ["".join(cell.itertext()) for cell in root.iter("td")]
        self.assertIn(":<b>load</b>", cells)
        self.assertEqual(cells[cells.index(":inner") - 7], "3", cells)
        self.assertIn("4 nvtx ranges", "".join(root.itertext()))
        self.assertEqual(len(self.shell.user_ns["trace"].nvtx_ranges), 4)
        self.assertTrue(pathlib.Path("with space.trace").exists())

    def test_a_statement(self):
        text, pages = self.run_cell("from lanescope import annotate\n%lanescope -t nvtx -s none --cpuctxsw=none print('-o is no option of it')")
        self.assertIn("-o is no option of it", text)
        self.assertEqual(list(pathlib.Path().iterdir()), [])
        self.assertEqual(len(pages), 1)

    def test_a_cell_that_fails_shows_its_error_and_the_recording(self):
        text, pages = self.run_cell("%%lanescope -t nvtx -s none --cpuctxsw=none\nraise KeyError('of the cell')")
        self.assertIn("of the cell", text)
        self.assertEqual(len(pages), 1)
        text, _ = self.run_cell("%%lanescope -t nvtxx\n1")
        self.assertIn("nvtxx", text)
        text, pages = self.run_cell("%%lanescope -t nvtx -s none --cpuctxsw=none\n1")  # again
        self.assertEqual(len(pages), 1, text)

    def test_a_cell_that_fails_fails_for_who_runs_all_cells(self):
        with capture_output() as said:
            outer = self.shell.run_cell("%%lanescope -t nvtx -s none --cpuctxsw=none\nraise KeyError('of the cell')")
        self.assertIsInstance(outer.error_in_exec, KeyError)
        self.assertEqual((said.stdout + said.stderr).count("Traceback (most recent call last)"), 1)
        with capture_output():
            self.assertIsInstance(self.shell.run_cell("%%lanescope -t nvtx -s none --cpuctxsw=none\nx = = 1").error_in_exec, SyntaxError)
            self.assertTrue(self.shell.run_cell("%%lanescope -t nvtx -s none --cpuctxsw=none\n1").success)

    def test_what_is_wrong_with_an_option_is_said_before_the_cell_runs(self):
        for options, said in (("-r nonsense", "There is no report nonsense"), ("-r nvtx_sum:nonsense", "has no modifier nonsense"),
                              ("-r nvtx_sum,osrt_sum", "One report is shown"),
                              ("--report", "-r needs"), ("-v 1x", "name of a variable"), ("--variable", "name of a variable"), ("--output", "-o needs"),
                              ("--sample", "--sample needs a value"), ("-f --sample", "--sample needs a value"), ("--trace -s none", "--trace needs a value")):
            with self.subTest(options=options):
                text, pages = self.run_cell(f"%%lanescope {options}\nprint('it' + ' ran')")
                self.assertIn(said, text)
                self.assertNotIn("it ran", text)
                self.assertEqual(pages, [])
        text, _ = self.run_cell("%lanescope --sample none answer_of_none = 3")
        self.assertIn("--sample needs a value", text)
        self.assertEqual(list(pathlib.Path().iterdir()), [])

    def test_a_recording_of_a_training(self):
        path = support.recording("torch_training_workers0")
        summary = _notebook.Summary(path)
        root, pictures = self.check_page(summary._repr_html_())
        self.assertEqual(len(pictures), 1)
        found = lanescope.open(path).analyze()
        shown = ["".join(paragraph.itertext()) for paragraph in root.findall("p")]
        self.assertEqual(len(shown), 3)
        for paragraph, finding in zip(shown, found):
            self.assertIn(finding["Finding"], paragraph)
        self.assertIn("920 kernels", repr(summary))
        self.assertLess(len(summary._repr_html_()), 200_000)

    def test_wrong_options_are_told_in_one_line_and_nothing_runs(self):
        pathlib.Path("kept.trace").write_text("mine")
        for options, told in (("-t cudda", "Did you mean cuda?"), ("--no-such=1", "--no-such"), ("-r nope", "nope"), ("-o kept.trace", "allow overwriting with -f.")):
            with self.subTest(options), capture_output() as said:
                outer = self.shell.run_cell(f"%%lanescope -t nvtx {options}\nhas_run = True")
            self.assertIsInstance(outer.error_in_exec, _notebook.UsageError)
            self.assertIn(told, said.stderr)
            self.assertEqual(said.stderr.count("\n"), 1)
            self.assertNotIn("has_run", self.shell.user_ns)
        self.assertEqual(pathlib.Path("kept.trace").read_text(), "mine")

    def test_a_cell_that_awaits_is_refused_where_a_loop_runs_it(self):
        cell = "%%lanescope -t nvtx -s none --cpuctxsw=none\nimport asyncio\nbegun = 1\nawait asyncio.sleep(0)\nbegun = 2"
        def run_in_loop(text):  # as Jupyter does
            return asyncio.run(self.shell.run_cell_async(text, transformed_cell=self.shell.transform_cell(text)))
        with capture_output() as said:
            outer = run_in_loop(cell)
        self.assertIsInstance(outer.error_in_exec, _notebook.UsageError)
        self.assertIn("with lanescope.record(", said.stderr)
        self.assertNotIn("begun", self.shell.user_ns)
        with capture_output() as said:
            outer = run_in_loop(cell.replace("await asyncio.sleep(0)", "async def later(): await asyncio.sleep(0)"))
        self.assertEqual((outer.success, self.shell.user_ns.pop("begun"), len(said.outputs)), (True, 2, 1))
        _, pages = self.run_cell(cell)  # as in a terminal
        self.assertEqual((self.shell.user_ns.pop("begun"), len(pages)), (2, 1))

    def test_a_cell_of_which_nothing_is_recorded_has_run(self):
        with capture_output() as said, warnings.catch_warnings():
            warnings.simplefilter("always")
            outer = self.shell.run_cell("%%lanescope -t nvtx -s none --cpuctxsw=none --capture-range=nvtx --nvtx-capture=never\nhas_run = 1")
        self.assertTrue(outer.success)
        self.assertEqual((self.shell.user_ns.pop("has_run"), said.outputs), (1, []))
        self.assertIn('One begins with the NVTX range "never"', said.stderr)
        self.assertIn("Nothing was recorded", said.stderr)

    def test_a_cell_that_runs_again_replaces_the_file_that_it_wrote(self):
        options = "%%lanescope -t nvtx -s none --cpuctxsw=none -o run -v trace\n"
        cell = options + "from lanescope import annotate\nfor _ in range({}):\n    with annotate('step'): pass"

        def run(text, number, cell_id="one"):
            self.shell.execution_count = number  # as shells count that keep a history
            self.shell.get_parent = lambda: {"metadata": {"cellId": cell_id}}  # as Jupyter's kernel
            self.addCleanup(self.shell.__dict__.pop, "get_parent", None)
            return self.run_cell(text)

        def ranges():
            return len(lanescope.open("run.trace").nvtx_ranges)

        run(cell.format(2), 1)
        first = self.shell.user_ns["trace"]
        text, pages = run(cell.format(5), 2)
        self.assertEqual(len(pages), 1, text)
        self.assertEqual(ranges(), 5)
        self.assertEqual(first.nvtx_ranges["duration"].size, 2)  # what was opened before can still be read
        self.assertEqual([each.name for each in pathlib.Path().iterdir()], ["run.trace"])

        text, pages = run(cell.format(1), 3, "another")
        self.assertIn("allow overwriting with -f.", text)
        text, pages = run(cell.format(3), 4)  # and the first cell again
        self.assertEqual(ranges(), 3, text)
        text, pages = run("for _ in range(2):\n    %lanescope -t nvtx -s none --cpuctxsw=none -o looped 1", 5)
        self.assertIn("allow overwriting with -f.", text)
        self.assertEqual(len(pages), 1)

        os.utime("run.trace", ns=(1, 1))  # somebody wrote to it
        text, pages = run(cell.format(1), 6)
        self.assertIn("allow overwriting with -f.", text)
        self.assertEqual(ranges(), 3)
        text, pages = run(cell.format(1).replace("-o run", "-f -o run"), 7)
        self.assertEqual(ranges(), 1, text)
        pathlib.Path("run.trace").unlink()
        text, pages = run(cell.format(4), 8)
        self.assertEqual(ranges(), 4, text)

    def test_options(self):
        self.assertEqual(_notebook.parse("-t cuda,nvtx -f --preset=light --python-sampling train(-1)"),
                         ({"trace": "cuda,nvtx", "force": True, "preset": "light", "python_sampling": True}, "train(-1)"))
        self.assertEqual(_notebook.parse("-o 'a b' x"), ({"output": "a b"}, "x"))
        for wrong in ("-x 1", "-t"):
            with self.assertRaises(_notebook.UsageError):
                _notebook.parse(wrong)


if __name__ == "__main__":
    unittest.main()
