// Where files say that an interpreter's loop is, with symbols and without.
#include <fcntl.h>

#include <filesystem>

#include "collector/channel/file_descriptor.h"
#include "interpreter_file.h"
#include "interpreters.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::python;

namespace {

InterpreterFile read(const std::string& path) { return read_interpreter_file(channel::FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)).get()); }

}  // namespace

TEST_CASE("the part of the loop that stands elsewhere is found without symbols where symbols say it is") {
  const std::string whole = LANESCOPE_SPLIT_LOOP;
  const InterpreterFile known = read(whole);
  REQUIRE(known.is_readable);
  if (known.loop.size() != 2) {
    WARN("The compiler did not split the loop.");
    return;
  }
  const test::TemporaryFolder folder;
  const std::string stripped = (folder.path() / "stripped").string();
  // Keeps only the loop's own symbol and the runtime's, as interpreters export them.
  const std::string command = "strip -K _PyEval_EvalFrameDefault -K _PyRuntime -o '" + stripped + "' '" + whole + "' && echo done";
  REQUIRE(test::output_of(command) == "done\n");
  const InterpreterFile found = read(stripped);
  CHECK(found.runtime == known.runtime);
  REQUIRE(found.loop.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(std::any_of(known.loop.begin(), known.loop.end(), [&](const AddressRange& range) {
      constexpr std::uint64_t kAlignment = 16;  // of the next function
      return range.begin == found.loop[i].begin && range.end <= found.loop[i].end && found.loop[i].end < range.end + kAlignment;
    }));
  }
  CHECK(read("/bin/true").loop.empty());
}
