// The schema as data: which fields a message has, for code that looks at messages before it parses them.
#pragma once

#include <string_view>

namespace lanescope::proto {

// A FileDescriptorSet (google/protobuf/descriptor.proto) of the files in this folder, as it stands on the wire.
[[nodiscard]] std::string_view schema() noexcept;

}  // namespace lanescope::proto
