// Results of the recorder's thread that wait for the host's thread.
#pragma once

#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "collector/cpu/recorder.h"

namespace lanescope::cpu {

struct EndedProcess {
  ProcessKey process;
  std::int64_t time;
};
struct NamedThread {
  ProcessKey process;
  std::uint32_t thread;
  std::string name;
};
struct PackedEvents {
  ProcessKey process;
  proto::EventChunk chunk;
  std::uint32_t events;
};
struct NamedCode {
  ProcessKey process;
  proto::Symbols symbols;
};
struct DescribedThings {
  ProcessKey process;
  proto::Resources resources;
};
struct CountedRecords {
  ProcessKey process;
  proto::Counters counters;
};

struct ForgottenProcess {
  ProcessKey process;
};

class Outbox {
 public:
  using Item =
      std::variant<SeenProcess, EndedProcess, ForgottenProcess, NamedThread, DescribedThings, PackedEvents, NamedCode, CountedRecords, proto::Diagnostic>;

  void put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
  }
  [[nodiscard]] std::vector<Item> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(items_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Item> items_;
};

}  // namespace lanescope::cpu
