// Both sides of a link on this machine: a folder for each, and a transport between them that breaks as it is told.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "collector/remote/remote_work.h"
#include "model/file/frame.h"
#include "support/paths.h"

namespace lanescope::test {

inline std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Random bytes that start as recordings do.
inline std::string random_bytes(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
  return bytes.replace(0, sizeof(kFileMagic), reinterpret_cast<const char*>(kFileMagic), sizeof(kFileMagic));
}

inline void write_file(const std::filesystem::path& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// A folder for the user's side, and one for the other side.
class Machines {
 public:
  Machines() {
    std::signal(SIGPIPE, SIG_IGN);
    std::filesystem::create_directory(here());
    std::filesystem::create_directory(there());
    setenv("XDG_CACHE_HOME", (folder_.path() / "cache").c_str(), 1);
    setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
  }
  [[nodiscard]] std::filesystem::path here() const { return folder_.path() / "here"; }
  [[nodiscard]] std::filesystem::path there() const { return folder_.path() / "there"; }
  [[nodiscard]] std::filesystem::path recordings() const { return folder_.path() / "cache" / "lanescope" / "recordings"; }

  [[nodiscard]] std::string cuts_left() const { return content(folder_.path() / "cuts"); }
  // Uses a transport that is cut as these lines say (cut_link.cpp).
  [[nodiscard]] remote::WorkSettings settings(remote::Task task, const std::string& cuts = "") const {
    write_file(folder_.path() / "cuts", cuts);
    remote::WorkSettings settings;
    settings.target = "command:test";
    settings.command = {program("lanescope_test_cut_link").string(), (folder_.path() / "cuts").string(), program("lanescope").string(), "serve", "--stdio"};
    settings.version = "test";
    settings.task = std::move(task);
    settings.overwrite = Overwrite::kAllow;
    using std::chrono_literals::operator""min;
    using std::chrono_literals::operator""ms;
    settings.patience = {.greeting = 5min, .silence = 5min, .first_pause = 0ms, .longest_pause = 1ms, .without_link = 5min};
    settings.place = [this](std::size_t number) -> Result<std::filesystem::path> { return here() / (std::to_string(number) + ".trace"); };
    settings.print = [this](remote::TextStream stream, std::string_view bytes) { printed_[static_cast<std::size_t>(stream)].append(bytes); };
    settings.tell = [](const std::string&) {};
    return settings;
  }
  [[nodiscard]] const std::string& output() const { return printed_[0]; }
  [[nodiscard]] const std::string& messages() const { return printed_[1]; }
  [[nodiscard]] std::size_t files_here() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(here()), std::filesystem::directory_iterator()));
  }
  [[nodiscard]] std::size_t recordings_there() const {
    std::error_code missing;
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(recordings(), missing), std::filesystem::directory_iterator()));
  }
  void forget_output() const { printed_ = {}; }

 private:
  TemporaryFolder folder_;
  mutable std::array<std::string, 2> printed_;
};

}  // namespace lanescope::test
