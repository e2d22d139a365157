// Any bytes as the file in which a program names its generated code. The first byte says where the file was cut when it was read the first time.
#include <cstdlib>

#include <unistd.h>

#include <fstream>

#include "code/perf_map.h"
#include "fuzz_target.h"

using namespace lanescope::cpu;

namespace {

// The file of this process, at the only place where it is looked for.
class OwnMap {
 public:
  OwnMap() : path_("/tmp/perf-" + std::to_string(getpid()) + ".map") {}
  ~OwnMap() { unlink(path_.c_str()); }
  OwnMap(const OwnMap&) = delete;
  OwnMap& operator=(const OwnMap&) = delete;
  void write(const std::uint8_t* data, std::size_t size) const {
    std::ofstream stream(path_, std::ios::binary | std::ios::trunc);
    stream.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }

 private:
  std::string path_;
};

constexpr std::uint64_t kBudget = 4096;  // bytes, so that inputs reach it

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const OwnMap file;
  const auto budget = std::make_shared<PerfMapBudget>();
  budget->left = kBudget;
  {
    PerfMap map(getpid(), budget);
    for (const std::size_t part : {(size - 1) * data[0] / 256, size - 1}) {
      file.write(data + 1, part);
      map.refresh();
      if (budget->left > kBudget) std::abort();
    }
    for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0x1000}, std::uint64_t{0x7f0000001008}, ~std::uint64_t{0}})
      if (const auto name = python_name(map.find(address)); name && name->function.find(':') != std::string_view::npos) std::abort();
  }
  if (budget->left != kBudget) std::abort();
  return 0;
}

std::vector<std::string> valid_inputs() {
  return {
      "\x80"
      "1000 20 py::step:/srv/train.py\n7f0000001000 10 LazyCompile:~f /srv/a.js:3\n0x7f0000001008 0x10 stub\n1010 0 empty\n",
      std::string("\x10"
                  "ffffffffffffff00 ff last\nffffffffffffffff 1 beyond\n0 40000000 all\n0 1 again\n")};
}
