// Commands that are run in this process, with what they print.
#pragma once

#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include "run.h"

namespace lanescope::test {

// Keeps what is printed to a stream while it exists, instead of printing it.
class Printed {
 public:
  explicit Printed(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Printed() { stream_.rdbuf(before_); }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::ostream& stream_;
  std::streambuf* before_;
};

struct Ran {
  int code = -1;
  std::string output, messages;  // to standard output, and to standard error
};
inline Ran run_command(cli::Arguments words) {
  const Printed output(std::cout), messages(std::cerr);
  const int code = cli::run(std::move(words));
  return {code, output.text(), messages.text()};
}

}  // namespace lanescope::test
