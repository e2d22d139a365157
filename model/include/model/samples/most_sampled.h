// What a thread was mostly seen to run in a time: the short answer, for findings and tooltips.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/samples/sampled_stacks.h"
#include "model/samples/thread_samples.h"

namespace lanescope::samples {

// Which call of a chain stands for it.
enum class ChainPart : std::uint8_t {
  kInnermost,  // the function that ran
  // The Python function that ran or called what ran; not those of the import system, but what imports. Without any: the innermost call.
  kInnermostPython,
};

struct MostSampled {
  NameId function = 0;  // 0 where it is not known: then all such code of the module
  NameId module = 0;    // path of the file with its code; 0 for none
  CodeKind kind = CodeKind::kNative;
  NameId source_file = 0;  // of the line that most of these samples have in common; 0 where not known
  std::uint32_t source_line = 0;
  std::uint64_t count = 0;  // samples
  double share = 0;         // of all samples of the thread in the window, from 0 to 1
};

// The functions with most samples, most first, at most `limit`; Python's of one name are told apart by their files. O(samples in the
// window).
[[nodiscard]] std::vector<MostSampled> most_sampled(const Trace& trace, ThreadId thread, TimeRange window, ChainPart part, std::size_t limit);

// The same of chains that were picked already; shares are of all of them. O(chains · depth).
[[nodiscard]] std::vector<MostSampled> most_sampled(const Trace& trace, const ChainCounts& chains, ChainPart part, std::size_t limit);

// "__getitem__ in train.py:31", the line where it is known; of a package, "<module> in torch/__init__.py:8"; native functions with their scopes alone, as
// scoped_function_name() has them; the module's name where the function is not known.
[[nodiscard]] std::string place_text(const Trace& trace, const MostSampled& function);
// "__getitem__ in train.py:31 (64 %), decode in images.py:12 (21 %)": where the chains mostly were, in the words above; functions that are
// not known, or have less than the share, are left out. Empty where there are no chains.
[[nodiscard]] std::string most_sampled_text(const Trace& trace, const ChainCounts& chains, ChainPart part, std::size_t limit, double least_share = 0);

// A program or library, and the share of the samples, from 0 to 1, that ran in its code.
struct MostSampledFile {
  std::string name;  // without its folder: "libtorch_cpu.so"; "Python" for code of Python's
  double share = 0;
};
// Those with most samples, most first, at most `limit`: what is left to say where no function has many. O(chains · log files).
[[nodiscard]] std::vector<MostSampledFile> most_sampled_files(const Trace& trace, const ChainCounts& chains, std::size_t limit);
// "libtorch_cpu.so (64 %), python3.12 (21 %)", of those that have the share.
[[nodiscard]] std::string most_sampled_files_text(const Trace& trace, const ChainCounts& chains, std::size_t limit, double least_share = 0);

}  // namespace lanescope::samples
