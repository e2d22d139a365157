// Ranges around the functions that the file of --python-functions-trace names.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../recorder.h"
#include "collector/session/python_functions.h"
#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// A module with all kinds of functions.
const std::string kModule =
    "import json as submodule\n"
    "def plain(x, *, y=1):\n"
    "  'adds'\n"
    "  return x + y\n"
    "def fails(): raise ValueError('as it should')\n"
    "def recursive(n): return 0 if n == 0 else recursive(n - 1)\n"
    "def numbers(): yield from range(3)\n"
    "async def later(): return 7\n"
    "number = 3\n"
    "class Model:\n"
    "  def __init__(self): self.calls = 0\n"
    "  def __call__(self): self.calls += 1; return self.calls\n"
    "  def step(self): return 'stepped'\n"
    "  @staticmethod\n"
    "  def of_none(): return 'static'\n"
    "  @classmethod\n"
    "  def of_class(cls): return cls.__name__\n";

const std::string kProgram =
    "import work, asyncio, math, inspect\n"
    "print(work.plain(1, y=2), work.plain.__name__, work.plain.__doc__, inspect.signature(work.plain))\n"
    "try: work.fails()\n"
    "except ValueError as error: print(error)\n"
    "work.recursive(3)\n"
    "model = work.Model()\n"
    "print(model(), model(), model.step(), work.Model.of_none(), work.Model.of_class(), isinstance(model, work.Model))\n"
    "print(list(work.numbers()), asyncio.run(work.later()), work.number, math.sqrt(4.0), work.submodule.dumps(1))\n";

const std::string kPrinted = "3 plain adds (x, *, y=1)\nas it should\n1 2 stepped static Model True\n[0, 1, 2] 7 3 2.0 1\n";

const std::string kFunctions =
    R"([{"_comment": "of ours", "module": "work", "color": "magenta", "domain": "own",
         "functions": ["plain", "fails", {"function": "recursive", "color": "#112233"}, "numbers", "later", "number", "Model", "Model.step",
                       "Model.of_none", "Model.of_class", "submodule.dumps", "nothing.here"]},
        {"module": "math", "color": 255, "functions": ["sqrt"]},
        {"module": "__main__", "functions": ["model", "work"]},
        {"module": "never_imported", "functions": ["f"]}])";

Ran record(const std::filesystem::path& folder, std::vector<std::string> options) {
  std::vector<std::string> all{"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-f", "-o", "x"};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {"python3", "-c", kProgram});
  return run_lanescope(folder, all, {{"PYTHONPATH", folder / "mine"}});
}

// python3, and those that LANESCOPE_PYTHONS names, of any version.
std::vector<std::string> interpreters() {
  std::vector<std::string> found{"python3"};
  const char* const others = std::getenv("LANESCOPE_PYTHONS");
  std::istringstream names(others == nullptr ? "" : others);
  for (std::string name; std::getline(names, name, ':');) found.push_back(name);
  return found;
}

bool has_python() { return std::system("command -v python3 >/dev/null 2>&1") == 0; }

std::uint64_t ranges(const std::filesystem::path& folder, std::string_view name) {
  return count_events(*load(folder / "x.trace"), TrackKind::kNvtxRanges, name);
}

}  // namespace

TEST_CASE("named functions of Python have a range a call, and do what they did") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  write(folder / "mine/work.py", kModule);
  write(folder / "functions.json", kFunctions);
  const Ran ran = record(folder, {"--python-functions-trace=functions.json"});
  CHECK(ran.code == 0);
  CHECK(ran.output.substr(0, kPrinted.size()) == kPrinted);
  CHECK(ranges(folder, "work.plain") == 1);
  CHECK(ranges(folder, "work.fails") == 1);
  CHECK(ranges(folder, "work.recursive") == 4);
  CHECK(ranges(folder, "work.Model.__init__") == 1);
  CHECK(ranges(folder, "work.Model.__call__") == 2);
  CHECK(ranges(folder, "work.Model.step") == 1);
  CHECK(ranges(folder, "work.Model.of_none") == 1);
  CHECK(ranges(folder, "work.Model.of_class") == 1);
  CHECK(ranges(folder, "work.submodule.dumps") == 1);
  CHECK(ranges(folder, "math.sqrt") == 1);
  CHECK_THAT(ran.messages, contains_text("work.numbers is not marked: it is a generator"));
  CHECK_THAT(ran.messages, contains_text("work.later is not marked: it is a coroutine"));
  CHECK_THAT(ran.messages, contains_text("work.number is not marked: it is no function"));
  CHECK_THAT(ran.messages, contains_text("work.nothing.here is not marked: there is none"));
  CHECK_THAT(ran.messages, contains_text("Functions of the program's own file (__main__) are not marked"));
  CHECK_THAT(ran.messages, !contains_text("__main__.model"));
  CHECK_THAT(ran.messages, contains_text("No range was recorded of the Python module never_imported: "));

  // With only one domain recorded: the functions that belong to it.
  CHECK(record(folder, {"--python-functions-trace=functions.json", "--nvtx-domain-include=own"}).code == 0);
  CHECK(ranges(folder, "work.plain") == 1);
  CHECK(ranges(folder, "math.sqrt") == 0);
}

TEST_CASE("callables that are more than functions stay what they are, and are named") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  write(folder / "mine/work.py",
        "import functools\n"
        "@functools.lru_cache(None)\n"
        "def kept(x): return x\n"
        "bound = functools.partial(int, base=2)\n"
        "class Operation:\n"
        "  reduce = sum\n"
        "  @functools.lru_cache(None)\n"
        "  def of(self): return 1\n"
        "  def __call__(self, x): return x\n"
        "operation = Operation()\n");
  write(folder / "functions.json", R"([{"module": "work", "functions": ["kept", "bound", "operation", "Operation.of"]}])");
  const std::string program =
      "import work\nprint(work.kept(1), work.kept(1), work.kept.cache_info().hits, work.bound('11'), work.bound.func.__name__)\n"
      "print(work.operation(2), work.operation.reduce([1, 2]), isinstance(work.operation, work.Operation), work.Operation.of.cache_info().hits)\n";
  const Ran ran = run_lanescope(
      folder, {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-o", "x", "--python-functions-trace=functions.json", "python3", "-c", program},
      {{"PYTHONPATH", folder / "mine"}});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, contains_text("1 1 1 3 int\n2 3 True 0\n"));
  for (const std::string name : {"kept", "Operation.of"})
    CHECK_THAT(ran.messages, contains_text("work." + name + " is not marked: it is an object of the class _lru_cache_wrapper"));
  CHECK_THAT(ran.messages, contains_text("work.bound is not marked: it is an object of the class partial"));
  CHECK_THAT(ran.messages, contains_text("work.operation is not marked: it is an object of the class Operation"));
}

TEST_CASE("functions that look at who calls them stay what they are, and are named") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  write(folder / "functions.json",
        R"([{"module": "builtins", "functions": ["eval", "locals", "sorted"]}, {"module": "collections", "functions": ["namedtuple"]},
                                       {"module": "warnings", "functions": ["warn"]}, {"module": "logging", "functions": ["error", "Logger.warning"]}])");
  write(folder / "program.py",
        "import collections, logging, pickle, sys, warnings\n"
        "Pair = collections.namedtuple('Pair', 'x y')\n"
        "def own(x): return eval('x'), sorted(locals()), pickle.loads(pickle.dumps(Pair(1, 2)))\n"
        "print(own(3))\n"
        "warnings.showwarning = lambda message, category, file, line, *more: print(file.endswith('program.py'), line)\n"
        "warnings.warn('it warns')\n"
        "logging.basicConfig(format='%(filename)s %(message)s', stream=sys.stdout)\n"
        "logging.error('it fails')\n"
        "logging.getLogger('one').warning('it warns')\n");
  const Ran ran = run_lanescope(
      folder, {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-o", "x", "--python-functions-trace=functions.json", "python3", "program.py"});
  CHECK(ran.code == 0);
  CHECK(ran.output == "(3, ['x'], Pair(x=1, y=2))\nTrue 6\nprogram.py it fails\nprogram.py it warns\n");
  CHECK(ranges(folder, "builtins.sorted") > 0);
  for (const char* const name : {"builtins.eval", "builtins.locals", "collections.namedtuple", "warnings.warn", "logging.error", "logging.Logger.warning"})
    CHECK_THAT(ran.messages, contains_text(name + std::string(" is not marked: it looks at the function that calls it")));
}

TEST_CASE("the program's standard error has only what the program says, and the file has what could not be marked") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  write(folder / "mine/work.py", kModule);
  write(folder / "functions.json",
        R"([{"module": "work", "color": "greenish", "functions": ["plain", "numbers"]}, {"module": "wrok", "functions": ["plain"]}])");
  const std::string program = "import work, sys\nwork.plain(1)\nprint('mine', file=sys.stderr)\n";
  const Ran ran = run_lanescope(folder,
                                {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-o", "x", "--python-functions-trace=functions.json", "sh", "-c",
                                 "exec python3 -c \"$1\" 2> own", "sh", program},
                                {{"PYTHONPATH", folder / "mine"}});
  CHECK(ran.code == 0);
  CHECK(content(folder / "own") == "mine\n");
  CHECK(ranges(folder, "work.plain") == 1);
  const std::string told = run_lanescope(folder, {"info", "x.trace"}).output;
  for (const char* sentence : {"The colour 'greenish' of functions of Python is not known", "work.numbers is not marked: it is a generator",
                               "No range was recorded of the Python module wrok: no program imported it"}) {
    CHECK_THAT(ran.messages, contains_text(sentence));
    CHECK_THAT(told, contains_text(sentence));
  }
}

TEST_CASE("a Python in which nothing can be marked runs as without us, with its own start, and the user is told") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  write(folder / "mine/work.py", "def plain(x): return x\n");
  write(folder / "mine/sitecustomize.py", "import sys\nsys.stdout.write('started ')\n");
  write(folder / "without/_ctypes.py", "raise ImportError('built without libffi')\n");
  write(folder / "functions.json", R"([{"module": "work", "functions": ["plain", "missing"]}])");
  const std::string mine = folder / "mine";
  const std::string program = "import sys, work; sys.stdout.write(str(work.plain(1))); assert all(not each.endswith('python_marks') for each in sys.path)";
  for (const std::string& python : interpreters())
    for (const std::string& path : {mine, mine + ":" + (folder / "without").string()})
      for (const std::string option : {"--python-functions-trace=functions.json", "--pytorch=autograd-nvtx"}) {
        INFO(python << ' ' << path << ' ' << option);
        const Ran ran = run_lanescope(folder, {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-f", "-o", "x", option, python, "-c", program},
                                      {{"PYTHONPATH", path}});
        CHECK(ran.code == 0);
        CHECK(ran.output == "started 1");
        if (option.starts_with("--python")) CHECK_THAT(ran.messages, contains_text("not marked: "));
      }
}

TEST_CASE("a Python that loads no marks is named before it runs") {
  const auto against = [](std::vector<std::string> command) { return session::option_against_marks(command).value_or("none"); };
  CHECK(against({"python3", "-I", "a.py"}) == "-I");
  CHECK(against({"/usr/bin/python3.11", "-uS", "a.py"}) == "-S");
  CHECK(against({"python", "-W", "ignore", "-X", "dev", "-E", "-m", "a"}) == "-E");
  CHECK(against({"python", "-WIgnore", "a.py", "-I"}) == "none");
  CHECK(against({"python", "-c", "pass", "-I"}) == "none");
  CHECK(against({"python", "-m", "a", "-S"}) == "none");
  CHECK(against({"python", "-uBImS"}) == "-I");
  CHECK(against({"python", "--version", "-I"}) == "none");
  CHECK(against({"sh", "-I"}) == "none");
  CHECK(against({}) == "none");

  if (!has_python()) return;
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  write(folder / "functions.json", R"([{"module": "gc", "functions": ["get_threshold"]}])");
  const Ran ran = run_lanescope(folder, {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-o", "x", "--python-functions-trace=functions.json",
                                         "python3", "-E", "-c", "import gc; gc.get_threshold()"});
  CHECK(ran.code == 0);
  CHECK(ranges(folder, "gc.get_threshold") == 0);
  CHECK_THAT(ran.messages, contains_text("Functions of Python are not marked: with -E, Python does not load what marks them"));
}

TEST_CASE("functions of a module in the interpreter itself have a range a call, and the module is as without us") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  write(folder / "functions.json", R"([{"module": "gc", "functions": ["get_threshold"]}])");  // of every CPython, and imported by nothing at its start
  const std::string program =
      "import sys\nprint('gc' in sys.modules)\nimport gc, importlib\ngc.get_threshold()\nimportlib.reload(gc).get_threshold()\n"
      "print(gc.__spec__.loader.__name__, gc.__loader__ is gc.__spec__.loader, gc.__spec__.origin)\n";
  const Ran ran = run_lanescope(
      folder, {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-o", "x", "--python-functions-trace=functions.json", "python3", "-c", program});
  CHECK(ran.code == 0);
  CHECK(ran.output == "False\nBuiltinImporter True built-in\n");
  CHECK(ranges(folder, "gc.get_threshold") == 2);
}

TEST_CASE("of very many functions that are not there, twenty are named, and the others counted") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  write(folder / "mine/work.py", kModule);
  std::string functions = R"([{"module": "work", "functions": ["plain")";
  for (int i = 0; i < 25; ++i) functions += ", \"gone" + std::to_string(i) + '"';
  write(folder / "functions.json", functions + "]}]");
  const Ran ran = record(folder, {"--python-functions-trace=functions.json"});
  CHECK(ran.code == 0);
  CHECK(ranges(folder, "work.plain") == 1);
  CHECK_THAT(ran.messages, contains_text("work.gone19 is not marked: there is none"));
  CHECK_THAT(ran.messages, !contains_text("work.gone20"));
  CHECK_THAT(ran.messages, contains_text("5 more functions of work are not marked"));
}

TEST_CASE("a marked function has the depth of recursion that it has without a mark, and the limit is the program's afterwards") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  write(folder / "mine/deep.py", "def walk(n): return 0 if n == 0 else 1 + walk(n - 1)\ndef fails(n): return fails(n - 1) if n else 1 // 0\n");
  write(folder / "functions.json", R"([{"module": "deep", "functions": ["walk", "fails"]}])");
  const std::string program =
      "import sys, threading, deep\n"
      "print(sys.getrecursionlimit(), deep.walk(900), sys.getrecursionlimit())\n"
      "threads = [threading.Thread(target=deep.walk, args=(800,)) for _ in range(4)]\n"
      "for thread in threads: thread.start()\n"
      "for thread in threads: thread.join()\n"
      "try: deep.walk(5000)\n"
      "except RecursionError: print('too deep')\n"
      "try: deep.fails(500)\n"
      "except ZeroDivisionError: print('divided')\n"
      "print(sys.getrecursionlimit())\n"
      "sys.setrecursionlimit(3000)\n"
      "print(deep.walk(2500), sys.getrecursionlimit())\n";
  const Ran ran = run_lanescope(
      folder, {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-o", "x", "--python-functions-trace=functions.json", "python3", "-c", program},
      {{"PYTHONPATH", folder / "mine"}});
  CHECK(ran.code == 0);
  CHECK(ran.output == "1000 900 1000\ntoo deep\ndivided\n1000\n2500 3000\n");
  CHECK(ranges(folder, "deep.fails") == 501);
}

TEST_CASE("without the file a program's functions are as they are") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder folder;
  write(folder.path() / "mine/work.py", kModule);
  const Ran ran = record(folder.path(), {});
  CHECK(ran.output.substr(0, kPrinted.size()) == kPrinted);
  CHECK(ranges(folder.path(), "work.plain") == 0);
}

TEST_CASE("a file that names no functions is refused in one sentence") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  const auto refusal = [&](const std::string& text, const char* trace = "nvtx") {
    write(folder / "bad.json", text);
    const Ran ran = run_lanescope(folder, {"profile", "-t", trace, "--python-functions-trace=bad.json", "true"});
    CHECK(ran.code == 2);
    return ran.messages;
  };
  CHECK_THAT(refusal("[{"), contains_text("bad.json is no JSON."));
  CHECK_THAT(refusal("{}"), contains_text("has no list of modules"));
  CHECK_THAT(refusal("[3]"), contains_text("has an entry without a module"));
  CHECK_THAT(refusal(R"([{"module": "a"}])"), contains_text("has a module without a list of functions"));
  CHECK_THAT(refusal(R"([{"module": "a", "functions": [{"color": "red"}]}])"), contains_text("has a function without a name"));
  CHECK_THAT(refusal(R"([{"module": "a", "functions": ["f"], "color": []}])"), contains_text("has a colour that is neither"));
  CHECK_THAT(refusal(R"([{"module": "a", "functions": ["f"], "domain": 1}])"), contains_text("has a domain that is no text"));
  CHECK_THAT(refusal("[]", "cuda"), contains_text("Add nvtx to --trace"));
  for (const char* place : {"/dev/null", "."}) {
    const Ran ran = run_lanescope(folder, {"profile", "-t", "nvtx", std::string("--python-functions-trace=") + place, "true"});
    CHECK(ran.code == 2);
    CHECK_THAT(ran.messages, contains_text("is no file."));
  }
  const Ran absent = run_lanescope(folder, {"profile", "-t", "nvtx", "--python-functions-trace=absent.json", "true"});
  CHECK(absent.code == 2);
  CHECK_THAT(absent.messages, contains_text("absent.json can't be read (No such file or directory)"));
}
