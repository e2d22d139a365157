// Sources that go into a recording: which files are taken, and who may read them afterwards.
#include "collector/session/source_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "model/export/trace_file_export.h"
#include "model/kernels/code/source_files.h"
#include "model/trace/kernel_records.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using session::SourceRights;

namespace {

// A folder with a recording that anybody may read.
class Place {
 public:
  Place() {
    std::filesystem::copy_file(test::data_file("transpositions.trace"), recording());
    REQUIRE(chmod(recording().c_str(), 0644) == 0);
  }
  [[nodiscard]] std::filesystem::path recording() const { return folder_.path() / "recording.trace"; }
  [[nodiscard]] std::string path(const char* name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::string file(const char* name, const std::string& text, mode_t mode = 0644) const {
    std::ofstream(path(name), std::ios::binary) << text;
    REQUIRE(chmod(path(name).c_str(), mode) == 0);
    return path(name);
  }
  [[nodiscard]] bool is_owners() const {
    struct stat status {};
    REQUIRE(stat(recording().c_str(), &status) == 0);
    return (status.st_mode & 077) == 0;
  }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("of what a program names as sources, texts of source files alone go into its recording") {
  const Place place;
  const std::string source = place.file("kernel.cu", "first line\nsecond line\n");
  std::filesystem::create_symlink(place.file("id_rsa", "a key\n", 0600), place.path("header.h"));
  REQUIRE(mkfifo(place.path("pipe.cu").c_str(), 0600) == 0);  // opening it would block
  std::filesystem::create_directory(place.path("folder.cu"));
  const std::string large = place.file("large.cu", "");
  std::filesystem::resize_file(large, (4u << 20) + 1);
  const std::vector<std::string> others = {place.path("id_rsa"),
                                           place.path("header.h"),
                                           place.path("pipe.cu"),
                                           place.path("folder.cu"),
                                           large,
                                           place.file("binary.py", std::string("text\0", 5)),
                                           place.path("nowhere.cu"),
                                           "kernel.cu",
                                           "/proc/self/environ",
                                           "/dev/zero"};
  std::vector<std::string> all = others;
  all.push_back(source);
  const auto stored = session::append_sources(place.recording(), all, SourceRights::kOurs);
  REQUIRE(stored);
  CHECK(stored->files == 1);
  CHECK(stored->bytes == 23);
  REQUIRE(stored->left_out.size() == others.size());
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(stored->left_out[i].first == others[i]);

  const auto trace = load_trace(place.recording());
  REQUIRE(trace);
  REQUIRE((*trace)->kernel_records().sources.size() == 1);
  REQUIRE((*trace)->kernel_records().find_source(source) != nullptr);
  CHECK((*trace)->kernel_records().find_source(source)->text == "first line\nsecond line\n");
}

TEST_CASE("texts of a recording are shown wherever it is read, and go with it into another file") {
  const Place place;
  const auto before = load_trace(place.recording());
  REQUIRE(before);
  const std::vector<std::string> recorded = kernels::SourceFiles(**before, {}).recorded_paths();
  REQUIRE(recorded.size() == 1);  // the file was on the build machine, and is not here
  CHECK(std::filesystem::path(recorded.front()).filename() == "transpositions.cu");
  CHECK(kernels::SourceFiles(**before, {}).line("transpositions.cu:2").empty());

  const auto stored = session::append_sources(place.recording(), {place.file("transpositions.cu", "one\n  two  \n")}, SourceRights::kOurs);
  REQUIRE(stored);
  const auto after = load_trace(place.recording());
  REQUIRE(after);
  const std::filesystem::path copied = place.path("copied.trace");
  REQUIRE(export_trace_file(**after, copied, Overwrite::kRefuse));
  const auto copy = load_trace(copied);
  REQUIRE(copy);
  for (const auto& trace : {*after, *copy}) {
    REQUIRE(trace->kernel_records().sources.size() == 1);
    CHECK(trace->kernel_records().sources.front()->text == "one\n  two  \n");
    CHECK(trace->kernel_records().code.size() == (*before)->kernel_records().code.size());
  }
}

TEST_CASE("a recording with a source that not everybody may read is its owner's alone") {
  const Place place;
  const std::string secret = place.file("secret.cu", "text", 0600);
  const auto refused = session::append_sources(place.recording(), {secret}, SourceRights::kEverybodys);
  REQUIRE(refused);
  CHECK(refused->files == 0);
  CHECK(refused->left_out.size() == 1);
  CHECK_FALSE(place.is_owners());
  const auto of_another = session::append_sources(place.recording(), {secret}, SourceRights::kOurs, FileIdentity{});
  REQUIRE_FALSE(of_another);
  CHECK_THAT(of_another.error().text, contains_text("was replaced by another recording"));
  CHECK_FALSE(place.is_owners());
  const auto stored = session::append_sources(place.recording(), {secret}, SourceRights::kOurs);
  REQUIRE(stored);
  CHECK(stored->files == 1);
  CHECK(stored->is_owners_now);
  CHECK(place.is_owners());
}
