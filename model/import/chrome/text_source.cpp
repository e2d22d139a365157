#include "text_source.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

#include <zlib.h>

#include "bounded_queue.h"

namespace lanescope::importers {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, gzip header
constexpr std::size_t kBlockBytes = 1u << 20;
constexpr std::size_t kBlocksAhead = 4;

class PlainSource final : public TextSource {
 public:
  PlainSource(std::ifstream stream, std::uint64_t size) : TextSource(size, Form::kPlain), stream_(std::move(stream)) {}

  std::size_t read(std::span<char> into) override {
    stream_.read(into.data(), static_cast<std::streamsize>(into.size()));
    const auto count = static_cast<std::size_t>(stream_.gcount());
    position_ += count;
    if (stream_.bad()) damage_ = "it can't be read to its end";
    return count;
  }
  std::string damage() const override { return damage_; }

 private:
  std::ifstream stream_;
  std::string damage_;
};

class GzipSource final : public TextSource {
 public:
  GzipSource(std::ifstream stream, std::uint64_t size)
      : TextSource(size, Form::kGzip), stream_(std::move(stream)), most_bytes_(ImportLimits(size).unpacked_bytes()), blocks_(kBlocksAhead), thread_([this] {
          decompress();
        }) {}
  ~GzipSource() override {
    blocks_.close();
    thread_.join();
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(std::span<char> into) override {
    std::size_t count = 0;
    while (count < into.size()) {
      if (taken_ == block_.size()) {
        auto next = blocks_.pop();
        if (!next) break;
        block_ = std::move(*next);
        taken_ = 0;
      }
      const std::size_t part = std::min(into.size() - count, block_.size() - taken_);
      std::memcpy(into.data() + count, block_.data() + taken_, part);
      taken_ += part;
      count += part;
    }
    return count;
  }
  std::string damage() const override { return damage_; }

 private:
  // On thread_. damage_ is written before the queue is closed, and read after its end was seen.
  void decompress() {
    z_stream state{};
    try {
      if (inflateInit2(&state, kGzipWindow) == Z_OK)
        inflate_all(state);
      else
        damage_ = "it can't be decompressed";
    } catch (const std::bad_alloc&) {
      damage_ = "there is not enough memory to decompress it";
    }
    inflateEnd(&state);
    blocks_.close();
  }

  void inflate_all(z_stream& state) {
    std::vector<char> input(kBlockBytes / 4);
    bool member_open = false;
    bool over = false;
    std::uint64_t members = 0;  // that have ended
    std::uint64_t unpacked = 0;
    while (!over && fill(state, input)) {
      if (unpacked >= most_bytes_) {
        damage_ = "its compressed data unpack to more than " + std::to_string(unpacked / 1'000'000) +
                  " MB, which no trace of its size does (gunzip it first to read all of it)";
        return;
      }
      std::vector<char> block(kBlockBytes);
      state.next_out = reinterpret_cast<Bytef*>(block.data());
      state.avail_out = static_cast<uInt>(block.size());
      while (state.avail_out > 0 && fill(state, input)) {
        const int status = inflate(&state, Z_NO_FLUSH);
        // After a member there may be another one, or padding, which is skipped as gzip does.
        constexpr uLong kMagicBytes = 2;
        const bool in_member = members == 0 || state.total_in > kMagicBytes;
        if (status == Z_STREAM_END) {
          ++members;
          member_open = false;
          inflateReset(&state);
        } else if (status == Z_OK || status == Z_BUF_ERROR) {
          member_open = in_member;
        } else {
          if (in_member) damage_ = "its compressed data are damaged";
          member_open = false;
          over = true;
          break;
        }
      }
      block.resize(block.size() - state.avail_out);
      unpacked += block.size();
      if (!block.empty() && !blocks_.push(std::move(block))) return;
    }
    if (member_open) damage_ = "its compressed data are cut off";
  }

  bool fill(z_stream& state, std::vector<char>& input) {
    if (state.avail_in > 0) return true;
    stream_.read(input.data(), static_cast<std::streamsize>(input.size()));
    state.next_in = reinterpret_cast<Bytef*>(input.data());
    state.avail_in = static_cast<uInt>(stream_.gcount());
    position_ += state.avail_in;
    return state.avail_in > 0;
  }

  std::ifstream stream_;
  const std::uint64_t most_bytes_;
  BoundedQueue<std::vector<char>> blocks_;
  std::string damage_;
  std::vector<char> block_;
  std::size_t taken_ = 0;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<TextSource>> TextSource::open(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error{path.string() + " can't be opened: " + std::strerror(errno ? errno : ENOENT) + "."};
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(path, failure);
  char magic[2] = {};
  stream.read(magic, sizeof magic);
  const bool gzip = stream.gcount() == 2 && magic[0] == '\x1f' && magic[1] == '\x8b';
  stream.clear();
  stream.seekg(0);
  const std::uint64_t known_size = failure ? 0 : size;
  if (gzip) return std::unique_ptr<TextSource>(std::make_unique<GzipSource>(std::move(stream), known_size));
  return std::unique_ptr<TextSource>(std::make_unique<PlainSource>(std::move(stream), known_size));
}

std::string beginning_of_gzip(std::string_view head) {
  z_stream state{};
  if (inflateInit2(&state, kGzipWindow) != Z_OK) return {};
  std::string text(4096, '\0');
  std::string input(head);
  state.next_in = reinterpret_cast<Bytef*>(input.data());
  state.avail_in = static_cast<uInt>(input.size());
  state.next_out = reinterpret_cast<Bytef*>(text.data());
  state.avail_out = static_cast<uInt>(text.size());
  const int status = inflate(&state, Z_SYNC_FLUSH);
  text.resize(text.size() - state.avail_out);
  inflateEnd(&state);
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) text.clear();
  return text;
}

}  // namespace lanescope::importers
