// What a thread mostly ran in a time range, according to its samples: a short answer for findings and tooltips.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/samples/sampled_stacks.h"
#include "model/samples/thread_samples.h"
#include "model/text/message.h"

namespace lanescope::samples {

// The call that represents a chain.
enum class ChainPart : std::uint8_t {
  kInnermost,  // the function that ran
  // The innermost Python function, which ran or called what ran. Functions of the import system are skipped in favour of the importer. Without Python
  // functions: the innermost call.
  kInnermostPython,
};

struct MostSampled {
  NameId function = 0;  // 0 if unknown: then all such code of the module
  NameId module = 0;    // path of the file with its code; 0 if there is none
  CodeKind kind = CodeKind::kNative;
  NameId source_file = 0;  // of the most frequent line of these samples; 0 if unknown
  std::uint32_t source_line = 0;
  std::uint64_t count = 0;  // samples
  double share = 0;         // of all samples of the thread in the window, from 0 to 1
};

// The functions with most samples, in descending order, at most `limit`. Python functions of one name are distinguished by file. O(samples in the window).
[[nodiscard]] std::vector<MostSampled> most_sampled(const Trace& trace, ThreadId thread, TimeRange window, ChainPart part, std::size_t limit);

// The same for chains that were collected before; shares are relative to all of them. O(chains · depth).
[[nodiscard]] std::vector<MostSampled> most_sampled(const Trace& trace, const ChainCounts& chains, ChainPart part, std::size_t limit);

// "__getitem__ in train.py:31", with the line if it is known; for a package, "<module> in torch/__init__.py:8". Native functions have only their scopes, as in
// scoped_function_name(). If the function is unknown, the module's name.
[[nodiscard]] Message place_text(const Trace& trace, const MostSampled& function);
// "__getitem__ in train.py:31 (64 %), decode in images.py:12 (21 %)": the most frequent functions, in the format of place_text(). Functions that are unknown
// or below `least_share` are left out. Empty without chains.
[[nodiscard]] Message most_sampled_text(const Trace& trace, const ChainCounts& chains, ChainPart part, std::size_t limit, double least_share = 0);

// A program or library, and the share of samples in its code, from 0 to 1.
struct MostSampledFile {
  std::string name;  // without its folder: "libtorch_cpu.so"; "Python" for Python code
  double share = 0;
};
// The files with most samples, in descending order, at most `limit`: for use if no function has many samples. O(chains · log files).
[[nodiscard]] std::vector<MostSampledFile> most_sampled_files(const Trace& trace, const ChainCounts& chains, std::size_t limit);
// "libtorch_cpu.so (64 %), python3.12 (21 %)": files with at least `least_share`.
[[nodiscard]] Message most_sampled_files_text(const Trace& trace, const ChainCounts& chains, std::size_t limit, double least_share = 0);

}  // namespace lanescope::samples
