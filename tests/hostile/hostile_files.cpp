#include "hostile_files.h"

#include "kinds.h"

namespace lanescope::test {

const std::vector<HostileFile>& hostile_files() {
  static const std::vector<HostileFile> files = [] {
    std::vector<HostileFile> all;
    for (const auto kind : {&columns_and_entries, &damage, &overlaps, &places, &counters, &dictionaries, &names, &calls, &messages_and_index, &kernel_records,
                            &compacted, &long_texts, &combinations, &waits})
      for (HostileFile& file : kind()) all.push_back(std::move(file));
    return all;
  }();
  return files;
}

}  // namespace lanescope::test
