// What --pytorch does to a program's Python, with a stand-in for PyTorch that reports what was requested of it.
#include <fstream>

#include "../recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// emit_nvtx as in PyTorch: it waits for the GPU before it begins.
void write_stand_in(const std::filesystem::path& folder) {
  write(folder / "torch/__init__.py", "from torch import cuda, autograd\nprint('torch is imported')\n");
  write(folder / "torch/cuda.py", "def synchronize(): print('waited for the GPU')\n");
  write(folder / "torch/autograd/__init__.py", "");
  write(folder / "torch/autograd/profiler.py",
        "class emit_nvtx:\n"
        "  def __init__(self, enabled=True, record_shapes=False): self.shapes = record_shapes\n"
        "  def __enter__(self):\n"
        "    import torch\n"
        "    torch.cuda.synchronize()\n"
        "    print('marked', 'with shapes' if self.shapes else 'without shapes')\n");
  write(folder / "sitecustomize.py", "print('the own sitecustomize')\n");
}

const std::string kProgram =
    "import importlib.util, os, sys, sitecustomize; importlib.util.find_spec('torch'); import torch; torch.cuda.synchronize(); "
    "print(os.path.basename(os.path.dirname(sitecustomize.__file__)))";

Ran run(const std::filesystem::path& folder, const std::string& option, const std::string& code) {
  return run_lanescope(folder, {"profile", "-t", "nvtx", option, "-s", "none", "--cpuctxsw", "none", "-f", "-o", "x", "python3", "-c", code},
                       {{"PYTHONPATH", folder / "mine"}});
}

bool has_python() { return std::system("command -v python3 >/dev/null 2>&1") == 0; }

}  // namespace

TEST_CASE("PyTorch's operations are marked once it is imported, and the program's own start-up file runs as without us") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder folder;
  write_stand_in(folder.path() / "mine");
  const std::string begin = "the own sitecustomize\ntorch is imported\n";
  const std::string end = "waited for the GPU\nmine\n";
  CHECK(run(folder.path(), "--pytorch=autograd-nvtx", kProgram).output == begin + "marked without shapes\n" + end);
  CHECK(run(folder.path(), "--pytorch=autograd-shapes-nvtx", kProgram).output == begin + "marked with shapes\n" + end);
  CHECK(run(folder.path(), "--pytorch=none", kProgram).output == begin + end);
}

TEST_CASE("a program that imports no PyTorch, or one that can't mark, runs as without us") {
  if (!has_python()) {
    WARN("python3 is not installed: not tried");
    return;
  }
  const TemporaryFolder folder;
  const Ran plain = run(folder.path(), "--pytorch=autograd-nvtx", "import sys; print('torch' in sys.modules)");
  CHECK(plain.code == 0);
  CHECK(plain.output == "False\n");
  write(folder.path() / "mine/torch/__init__.py", "print('an old one')\n");
  const Ran old = run(folder.path(), "--pytorch=autograd-nvtx", "import torch");
  CHECK(old.code == 0);
  CHECK(old.output == "an old one\n");
  CHECK_THAT(old.messages, contains_text("The operations of PyTorch are not marked"));
}

TEST_CASE("ranges of PyTorch need NVTX") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "cuda", "--pytorch=autograd-nvtx", "true"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.messages, contains_text("--pytorch marks operations with NVTX"));
}
