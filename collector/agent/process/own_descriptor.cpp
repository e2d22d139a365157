#include "agent/process/own_descriptor.h"

#include <fcntl.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

// The first of these that the process may use: its limit may be low.
constexpr int kLowestNumbers[] = {512, 256, 128, 64, 32, 16};

int copy_of(int descriptor) noexcept {
  for (const int lowest : kLowestNumbers)
    if (const long copy = system::system_call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, lowest); copy >= 0) return static_cast<int>(copy);
  return -1;
}

}  // namespace

OwnDescriptor OwnDescriptor::keep(int descriptor) noexcept {
  OwnDescriptor own;
  if (descriptor < 0) return own;
  const int high = copy_of(descriptor);
  if (high >= 0) system::close(descriptor);
  own.number_ = high >= 0 ? high : descriptor;
  struct stat status {};
  if (!system::file_status(own.number_, status)) {
    system::close(own.number_);
    return {};
  }
  own.inode_ = status.st_ino;
  own.device_ = status.st_dev;
  return own;
}

int OwnDescriptor::number() const noexcept {
  struct stat status {};
  const bool is_ours = number_ >= 0 && system::file_status(number_, status) && status.st_ino == inode_ && status.st_dev == device_;
  return is_ours ? number_ : -1;
}

void OwnDescriptor::close() noexcept {
  if (const int ours = number(); ours >= 0) system::close(ours);
  *this = {};
}

int OwnDescriptor::give_up() noexcept {
  const int ours = number();
  *this = {};
  return ours;
}

}  // namespace lanescope::agent
