// A place for messages if our standard error is a file on a full disk, as in a recorder that another machine started (collector/remote/serve.h) and whose
// program filled the disk.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace lanescope::cli {

// During its lifetime, what is written to the stream goes to standard error. From the first write that fails, it goes to the file that the variable
// remote::kMessageReserve names. The constructor removes that variable from our environment, which programs inherit. If the variable is not set, nothing
// changes. Must be made before there are other threads; one thread at a time.
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
  std::streambuf* before_ = nullptr;  // null: nothing was replaced
  int destination_;
  int reserve_ = -1;
};

}  // namespace lanescope::cli
