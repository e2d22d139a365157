// A .trace file that is written frame by frame, whatever the frames contain.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"

namespace lanescope::test {

inline constexpr std::uint32_t kProcess = 1;  // with which the file starts
inline constexpr std::int64_t kEpoch = 1'000;

// Writes frames until the file has the requested size. Ends with a session end, or an index.
class FileOfFrames {
 public:
  // If payloads compress very well, the file ends before it has that size: at twice the bytes of payload that a reader unpacks (docs/file-format.md, Limits).
  // The last frame is repeated then.
  FileOfFrames(const std::filesystem::path& path, std::size_t bytes);
  ~FileOfFrames();
  FileOfFrames(const FileOfFrames&) = delete;
  FileOfFrames& operator=(const FileOfFrames&) = delete;

  [[nodiscard]] bool is_full() const { return bytes_ + 256 >= most_bytes_ || unpacked_ >= most_unpacked_; }
  [[nodiscard]] std::uint64_t position() const { return bytes_; }

  template <typename Message>
  void add(int type, const Message& message, std::uint32_t process = kProcess, int source = 0, std::uint32_t events = 0) {
    add_payload(type, message.SerializeAsString(), process, source, events);
  }
  void add_payload(int type, const std::string& payload, std::uint32_t process = kProcess, int source = 0, std::uint32_t events = 0);
  // Repeats the frame until the file is full, at least once.
  void fill_with(int type, const std::string& payload, std::uint32_t events = 0);
  template <typename Message>
  void fill_with(int type, const Message& message) {
    fill_with(type, message.SerializeAsString());
  }
  // The entries of an index for the frames with which every file starts. An index that leaves frames out counts as damaged.
  [[nodiscard]] const proto::Index& entries_of_start() const { return entries_of_start_; }
  // Adds the index, and with it the end of the file.
  void add_index(const std::vector<std::string>& payloads);
  void put(std::string_view bytes);

 private:
  std::ofstream file_;
  std::size_t most_bytes_;
  std::uint64_t most_unpacked_;
  std::size_t bytes_ = 0;
  std::uint64_t unpacked_ = 0;
  std::vector<std::byte> last_;  // frame
  proto::Index entries_of_start_;
  bool has_index_ = false;
};

// Fields of messages in their binary form.
std::string field(std::uint32_t number, std::string_view content);
std::string number_field(std::uint32_t number, std::uint64_t value);

}  // namespace lanescope::test
