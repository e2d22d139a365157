// The hostile files, grouped by what they have too much of.
#pragma once

#include "hostile_files.h"

namespace lanescope::test {

[[nodiscard]] std::vector<HostileFile> columns_and_entries();
[[nodiscard]] std::vector<HostileFile> damage();
[[nodiscard]] std::vector<HostileFile> overlaps();
[[nodiscard]] std::vector<HostileFile> places();
[[nodiscard]] std::vector<HostileFile> counters();
[[nodiscard]] std::vector<HostileFile> dictionaries();
[[nodiscard]] std::vector<HostileFile> names();
[[nodiscard]] std::vector<HostileFile> calls();
[[nodiscard]] std::vector<HostileFile> messages_and_index();
[[nodiscard]] std::vector<HostileFile> kernel_records();
[[nodiscard]] std::vector<HostileFile> compacted();
[[nodiscard]] std::vector<HostileFile> long_texts();
[[nodiscard]] std::vector<HostileFile> combinations();
[[nodiscard]] std::vector<HostileFile> waits();

}  // namespace lanescope::test
