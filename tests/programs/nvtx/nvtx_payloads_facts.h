// What nvtx_payloads does, in domain NCCL: collectives of 4 KiB, 8 KiB and 16 KiB with operations 0 ("Sum"), 2 ("Max") and 7 (without a name), two marks that
// have only data, the second with schemas within a schema, and a range whose schema nobody registered.
#pragma once

#include <cstdint>

namespace lanescope::test::nvtx_payloads {

inline constexpr std::uint64_t kCollectiveSchema = (1u << 24) + 3;
inline constexpr std::uint64_t kOperationSchema = (1u << 24) + 24;
inline constexpr std::uint64_t kUnknownSchema = (1u << 24) + 99;
inline constexpr std::uint64_t kCommunicator = 0xfedc'ba98'7654'3210;
inline constexpr std::uint64_t kFirstBytes = 4096;
inline constexpr int kCollectives = 3;

}  // namespace lanescope::test::nvtx_payloads
