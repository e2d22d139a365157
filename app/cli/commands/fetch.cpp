// lanescope fetch: copies what was recorded on another machine.
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "collector/remote/serve.h"
#include "commands.h"
#include "remote/remote_work.h"
#include "text.h"

namespace lanescope::cli {
namespace {

constexpr const char* kFetchFooter =
    "Examples:\n"
    "  lanescope fetch --on ssh:gpu7 runs/night.trace       into night.trace here; one that is still recorded grows here, too\n"
    "  lanescope fetch --on ssh:gpu7 --list                 recordings from here that were not copied to their end\n"
    "  lanescope fetch --on ssh:gpu7 --recording NAME       one of them; it is removed there once it is here\n"
    "\n"
    "The copy is the same as the file there, byte for byte, or fetch fails. After a break of the link it goes on where it was.\n"
    "So does a further fetch after one that was ended: if the file here is the beginning of the one there, it is completed.";

// Lists the recordings of this machine, for another machine that asks.
int list_here() {
  const Result<std::vector<remote::KeptRecording>> kept = remote::kept_recordings();
  if (!kept) return fail(kept.error());
  std::printf("%-26s  %-9s  %s\n", "NAME", "STATE", "SIZE");
  for (const remote::KeptRecording& recording : *kept)
    std::printf("%-26s  %-9s  %s\n", recording.name.c_str(), recording.state.c_str(), bytes_text(recording.bytes).c_str());
  return kSuccess;
}

// The last part of a path on the other machine, with % doubled.
std::string own_name(const std::string& path) {
  std::string name;
  for (const char letter : std::filesystem::path(path).filename().string()) name += letter == '%' ? std::string("%%") : std::string(1, letter);
  return name;
}

}  // namespace

int run_fetch(Arguments arguments) {
  CLI::App app("Copies a trace file, or a recording, from another machine.", "lanescope fetch");
  app.footer(kFetchFooter);
  RemoteOptions remote;
  CopyOptions copy;
  std::string file, recording;
  bool list = false, overwrite = false;
  app.add_option("FILE", file, "A trace file there");
  app.add_flag("-l,--list", list, "List the recordings that are there; without --on, here");
  app.add_option("--recording", recording, "In place of FILE: a recording of the list")->type_name("NAME");
  app.add_option("-o,--output", copy.output, "The file here, as for lanescope profile")
      ->type_name("FILE")
      ->default_str("its name there, or report%n")
      ->group("Output");
  app.add_flag("-f,--force-overwrite", overwrite, "Replace the file when it exists [false]")->group("Output");
  describe_remote(app, remote);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (list && (!file.empty() || !recording.empty() || !copy.output.empty() || overwrite))
    return fail({"--list copies nothing, so it takes neither FILE nor --recording, -o or -f.", ErrorKind::kUsage});
  if (remote.target.empty()) return list ? list_here() : fail({"From where? lanescope fetch --on TARGET FILE", ErrorKind::kUsage});
  if (list) return run_there(remote, "fetch", app);
  if (file.empty() == recording.empty())
    return fail({"Which file? lanescope fetch --on TARGET FILE, or --recording NAME (see: lanescope fetch --on TARGET --list)", ErrorKind::kUsage});
  if (overwrite) copy.overwrite = Overwrite::kAllow;
  if (copy.output.empty() && !file.empty()) copy.output = own_name(file);
  return file.empty() ? fetch_recording(remote, recording, copy) : fetch_file(remote, file, copy);
}

}  // namespace lanescope::cli
