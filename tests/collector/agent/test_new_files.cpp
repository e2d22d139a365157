// Loaded files that a loader seems to be working on, but is not.
#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

#include "agent/core/loader/new_files.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope::agent;

namespace {

// A number of separate libraries that are loaded as long as this object lives.
class Libraries {
 public:
  explicit Libraries(int count) {
    for (int i = 0; i < count; ++i) {
      const std::filesystem::path file = folder_.path() / ("library" + std::to_string(i) + ".so");
      std::filesystem::copy_file(LANESCOPE_CLOSED_LIBRARY, file);
      loaded_.push_back(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
      REQUIRE(loaded_.back() != nullptr);
    }
  }
  ~Libraries() {
    for (void* const library : loaded_) dlclose(library);
  }
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;

 private:
  lanescope::test::TemporaryFolder folder_;
  std::vector<void*> loaded_;
};

}  // namespace

TEST_CASE("files that stay unfinished are waited for no longer than others, however many they are") {
  const int count = GENERATE(1, 100);
  CAPTURE(count);
  const Libraries libraries(count);
  NewFiles files(0);  // no file is waited for after files have stopped coming
  std::size_t visits = 0;
  const auto is_unfinished = [&visits](const dl_phdr_info&) {
    ++visits;
    return NewFiles::Seen::kAgain;
  };
  files.visit(is_unfinished);
  const std::size_t all = visits;
  CHECK(all > static_cast<std::size_t>(count));
  CHECK(files.waits_for_loader());
  files.visit(is_unfinished);
  CHECK(visits == 2 * all);
  CHECK_FALSE(files.waits_for_loader());
  files.visit(is_unfinished);
  CHECK(visits == 2 * all);
}
