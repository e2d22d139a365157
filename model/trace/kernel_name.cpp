#include "model/trace/kernel_name.h"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace lanescope {

std::string demangle(std::string_view mangled) {
  const std::string text(mangled);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> result(abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && result ? std::string(result.get()) : text;
}

std::string_view short_kernel_name(std::string_view demangled) {
  // One pass: `begin` follows the last "::" or blank outside of brackets; the first "<" or "(" behind the name ends it.
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::size_t begin = 0;
  std::size_t i = 0;
  while (i < demangled.size()) {
    const char c = demangled[i];
    if (demangled.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size();
    } else if (c == '<' || c == '(') {
      int depth = 0;
      std::size_t close = i;
      for (; close < demangled.size(); ++close) {
        const char b = demangled[close];
        if (b == '<' || b == '(') ++depth;
        if ((b == '>' || b == ')') && (b == ')' || demangled[close - 1] != '-') && --depth == 0) break;
      }
      const bool qualified = close + 2 < demangled.size() && demangled.substr(close + 1, 2) == "::";
      const bool return_type = c == '<' && close + 1 < demangled.size() && demangled[close + 1] == ' ';
      if (!qualified && !return_type) return demangled.substr(begin, i - begin);
      i = close + 1;
    } else if (c == ' ') {
      begin = ++i;
    } else if (demangled.substr(i).starts_with("::")) {
      begin = i += 2;
    } else {
      ++i;
    }
  }
  return demangled.substr(begin);
}

}  // namespace lanescope
