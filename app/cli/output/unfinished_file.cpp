#include "output/unfinished_file.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstring>

#include "model/file/new_file.h"

namespace lanescope::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

// Read by the signal handler, which may not allocate. An empty path ends the list.
std::array<std::array<char, PATH_MAX>, 4> unfinished;
std::array<struct sigaction, kSignals.size()> former;

void remove_and_end(int signal) {
  for (const auto& path : unfinished) {
    if (path[0] == '\0') break;
    if (unlink(path.data()) != 0) rmdir(path.data());
  }
  remove_new_files();
  std::signal(signal, SIG_DFL);
  raise(signal);  // takes effect when this handler returns
}

}  // namespace

UnfinishedFile::UnfinishedFile(std::initializer_list<std::filesystem::path> paths) {
  std::size_t count = 0;
  for (const std::filesystem::path& path : paths)
    if (path.native().size() < PATH_MAX && count < unfinished.size()) std::strcpy(unfinished[count++].data(), path.c_str());
  struct sigaction action {};
  action.sa_handler = remove_and_end;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &former[i]);
    if (former[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

UnfinishedFile::~UnfinishedFile() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &former[i], nullptr);
  for (auto& path : unfinished) path[0] = '\0';
}

}  // namespace lanescope::cli
