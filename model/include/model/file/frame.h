// Frames: what a .trace file is made of, and what travels from a target to its host. See docs/file-format.md.
//
// A frame is a 32-byte header and a payload, which is one protobuf message (proto/lanescope/trace.proto), raw or as one zstd frame.
// All integers are little-endian. The checksum is XXH64 (seed 0) of the header's first 24 bytes followed by the stored payload.
//
// This header needs neither protobuf nor zstd; the functions that compress live in frame_codec.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope {

inline constexpr std::uint32_t kFrameMagic = 0x3146534c;        // "LSF1"
inline constexpr std::size_t kMaximumPayloadBytes = 64u << 20;  // uncompressed; a header with a larger size is damaged
inline constexpr std::uint16_t kFormatMajor = 1;                // readers refuse newer major versions
inline constexpr std::uint16_t kFormatMinor = 8;

// The first 16 bytes of a file. The first byte is not ASCII and the line ends are mixed, so that a transfer in text mode is detected.
inline constexpr unsigned char kFileMagic[8] = {0x89, 'L', 'S', 'T', '\r', '\n', 0x1a, '\n'};
struct FileHeader {
  unsigned char magic[8];
  std::uint16_t major_version;
  std::uint16_t minor_version;
  std::uint32_t reserved;
};
static_assert(sizeof(FileHeader) == 16);

// The last 16 bytes of a finished file: the offset of its index, which is one or several frames up to here.
inline constexpr unsigned char kTrailerMagic[8] = {'L', 'S', 'T', 'I', 'D', 'X', '\r', '\n'};
struct FileTrailer {
  std::uint64_t index_offset;
  unsigned char magic[8];
};
static_assert(sizeof(FileTrailer) == 16);

enum class Codec : std::uint8_t { kRaw = 0, kZstd = 1 };

struct FrameHeader {
  std::uint32_t magic = kFrameMagic;
  std::uint16_t type = 0;  // proto::FrameType
  Codec codec = Codec::kRaw;
  std::uint8_t source = 0;        // proto::FrameSource
  std::uint32_t stored_size = 0;  // bytes of the payload in the file
  std::uint32_t raw_size = 0;     // bytes of the payload once decompressed
  std::uint32_t process = 0;      // instance number of the process; 0 for the session
  std::uint32_t event_count = 0;  // events in the payload, for FRAME_EVENTS
  std::uint64_t checksum = 0;
};
static_assert(sizeof(FrameHeader) == 32);
static_assert(offsetof(FrameHeader, checksum) == 24);

}  // namespace lanescope
