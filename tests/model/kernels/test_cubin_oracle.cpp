// Lines of code against what CUPTI reports for them, which needs neither a GPU nor a driver.
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "model/kernels/code/cubin.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernels;

TEST_CASE("each instruction has the file and the line that CUPTI says") {
  void* library = nullptr;
  for (const char* name : {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"})
    if (library == nullptr) library = dlopen(name, RTLD_LAZY);
  const auto correlate =
      library == nullptr ? nullptr : reinterpret_cast<decltype(&cuptiGetSassToSourceCorrelation)>(dlsym(library, "cuptiGetSassToSourceCorrelation"));
  if (correlate == nullptr) {
    WARN("there is no libcupti here that could say");
    return;
  }
  std::ifstream file(test::data_file("kernels/transpositions.cubin"), std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  const auto cubin = Cubin::read(image);
  REQUIRE(cubin);
  std::size_t compared = 0;
  for (const CubinFunction& function : cubin->functions()) {
    const std::string name(function.name);
    for (std::uint64_t pc = 0; pc < function.size; pc += kInstructionBytes) {
      CUpti_GetSassToSourceCorrelationParams asked{};
      asked.size = CUpti_GetSassToSourceCorrelationParamsSize;
      asked.cubin = image.data();
      asked.cubinSize = image.size();
      asked.functionName = name.c_str();
      asked.pcOffset = pc;
      REQUIRE(correlate(&asked) == CUPTI_SUCCESS);
      const auto places = cubin->source(function, pc);
      CAPTURE(name, pc);
      CHECK((places.empty() ? 0 : places.front().line) == asked.lineNumber);
      if (asked.lineNumber != 0) {
        REQUIRE(!places.empty());
        CHECK(places.front().file == std::string(asked.dirName) + "/" + asked.fileName);
      }
      std::free(asked.dirName);
      std::free(asked.fileName);
      ++compared;
    }
  }
  CHECK(compared > 100);
}
