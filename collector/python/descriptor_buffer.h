// The contents of an open file, for streams. A file without a path that this process may open is read by its descriptor.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ios>
#include <streambuf>

namespace lanescope::python {

class DescriptorBuffer final : public std::streambuf {
 public:
  // The descriptor must stay open. Its own position is neither used nor changed.
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {}

 protected:
  int_type underflow() override {
    ssize_t count = 0;
    do count = pread(descriptor_, bytes_.data(), bytes_.size(), next_);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return traits_type::eof();
    next_ += count;
    setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
    return traits_type::to_int_type(bytes_.front());
  }
  pos_type seekpos(pos_type position, std::ios_base::openmode) override {
    if (position < pos_type(0)) return pos_type(off_type(-1));
    next_ = static_cast<off_t>(position);
    setg(nullptr, nullptr, nullptr);
    return position;
  }

 private:
  int descriptor_;
  off_t next_ = 0;  // place in the file behind what is in `bytes_`
  std::array<char, 1u << 16> bytes_{};
};

}  // namespace lanescope::python
