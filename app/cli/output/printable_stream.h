// Standard output and error as terminals may get them: names in traces, and what targets say, can't send commands to the terminal.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace lanescope::cli {

// While it lives, control characters that are written to the stream are escaped, but for line feeds and tabs (append_printable). Writes
// whole lines on at once, the rest when it is flushed. One thread at a time.
class PrintableStream : public std::streambuf {
 public:
  explicit PrintableStream(std::ostream& stream) : stream_(stream), target_(stream.rdbuf(this)) {}
  ~PrintableStream() override;
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  bool write_on();

  std::ostream& stream_;
  std::streambuf* target_;
  std::string pending_;
};

}  // namespace lanescope::cli
