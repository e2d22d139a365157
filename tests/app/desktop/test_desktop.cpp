// What a desktop knows about us after installation, according to its own tools.
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "model/file/trace_file.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

// What a command prints on its standard output, without the last line end.
std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 256> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) output += piece.data();
  INFO(command << " printed: " << output);
  REQUIRE(pclose(pipe) == 0);
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

// The desktop's files of this build, installed where only this test looks. gio answers for xdg-mime, as on a GNOME desktop.
class InstalledDesktop {
 public:
  InstalledDesktop() {
    output_of(std::string(LANESCOPE_CMAKE) + " --install " + quoted(LANESCOPE_BINARY_DIR) + " --component desktop --prefix " + quoted(folder_.path()));
    output_of("update-mime-database " + quoted(share() / "mime") + " 2>&1");
    output_of("update-desktop-database " + quoted(share() / "applications"));
  }
  std::string ask(const std::string& question) const {
    const std::string data = "XDG_DATA_HOME=" + quoted(share()) + " XDG_DATA_DIRS=" + quoted(share()) + ":/usr/share ";
    return output_of("env XDG_CURRENT_DESKTOP=GNOME " + data + "xdg-mime query " + question);
  }
  // A trace file under this name.
  std::filesystem::path trace_file(const std::string& name) const {
    auto file = TraceFileWriter::create(folder_.path() / name, Overwrite::kRefuse);
    REQUIRE(file);
    REQUIRE(file->finish());
    return folder_.path() / name;
  }
  std::filesystem::path share() const { return folder_.path() / "share"; }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("the desktop knows a trace file by its name and by its content, and opens it with the viewer") {
  const InstalledDesktop desktop;
  CHECK(desktop.ask("filetype " + quoted(desktop.trace_file("report.trace"))) == "application/x-lanescope-trace");
  CHECK(desktop.ask("filetype " + quoted(desktop.trace_file("report without an ending"))) == "application/x-lanescope-trace");
  CHECK(desktop.ask("default application/x-lanescope-trace") == "io.github.lanescope.Lanescope.desktop");
}

TEST_CASE("the desktop entry is valid, and its icons are installed under the names that it uses") {
  const InstalledDesktop desktop;
  CHECK(output_of("desktop-file-validate " + quoted(desktop.share() / "applications/io.github.lanescope.Lanescope.desktop")).empty());
  CHECK(std::filesystem::exists(desktop.share() / "icons/hicolor/scalable/apps/lanescope.svg"));
  CHECK(std::filesystem::exists(desktop.share() / "icons/hicolor/scalable/mimetypes/application-x-lanescope-trace.svg"));
  CHECK(std::filesystem::exists(desktop.share() / "metainfo/io.github.lanescope.Lanescope.metainfo.xml"));
}
