// Ids of the functions and reasons in PcSamples, and which of these the host does not know yet.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/core/memory/page_buffer.h"
#include "agent/encode/dictionary.h"
#include "agent/encode/proto_writer.h"

namespace lanescope::agent::kernels {

class PcDictionary {
 public:
  // 0 if there is no memory.
  std::uint32_t function(std::uint64_t code_object, std::uint32_t index, std::string_view name) noexcept;
  std::uint32_t reason(std::string_view name) noexcept;

  // Writes the entries that were added since the last call.
  void write_new(encode::ProtoWriter& out) noexcept;
  // All entries are new again, for a host that knows none.
  void forget_written() noexcept;

 private:
  struct FunctionKey {
    std::uint64_t code_object;
    std::uint64_t index;
  };
  encode::ValueDictionary<FunctionKey> functions_;
  encode::StringDictionary names_;
  PageArray<std::uint32_t> name_of_;  // ids of names_, by function
  encode::StringDictionary reasons_;
  std::uint32_t written_functions_ = 0;
  std::uint32_t written_reasons_ = 0;
};

}  // namespace lanescope::agent::kernels
