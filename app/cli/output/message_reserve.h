// What we say although our standard error is a file on a disk that is full: as a recorder that another machine started
// (collector/remote/serve.h), whose program may have filled it.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace lanescope::cli {

// While it lives, what is written to the stream goes to standard error, and from the first that this does not take to the file that the variable
// remote::kMessageReserve names. Takes that variable out of our environment, which programs get. Where it is not set, nothing changes. Before there
// are other threads; one thread at a time.
class MessageReserve : public std::streambuf {
 public:
  explicit MessageReserve(std::ostream& stream);
  ~MessageReserve() override;
  MessageReserve(const MessageReserve&) = delete;
  MessageReserve& operator=(const MessageReserve&) = delete;

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;

 private:
  std::ostream& stream_;
  std::streambuf* before_ = nullptr;  // none: it is not in its place
  int destination_;
  int reserve_ = -1;
};

}  // namespace lanescope::cli
