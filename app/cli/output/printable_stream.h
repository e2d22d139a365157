// Makes standard output and error safe for terminals: names in traces, and what targets print, can't send commands to the terminal.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace lanescope::cli {

// During its lifetime, control characters that are written to the stream are escaped, except line feeds and tabs (append_printable). Whole lines are passed
// on at once, the rest when the stream is flushed. One thread at a time.
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
