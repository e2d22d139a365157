#include "model/trace/text/kernel_name.h"

#include <algorithm>
#include <cctype>
#include <csetjmp>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>

#include "model/file/limits.h"

#ifdef LANESCOPE_DEMANGLE_CALLBACK
// The core of abi::__cxa_demangle in libsupc++: it passes on the name in pieces.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled, void (*take)(const char* piece, std::size_t bytes, void* name), void* name);
#endif

namespace lanescope {
namespace {

constexpr std::size_t kFewReferences = 12;  // names with at most this many are at most 2^12 times as long as mangled

// True if the number at `at` is the length of the identifier after it. False if it may mean something else, such as a literal.
bool is_length(std::string_view mangled, std::size_t at) {
  constexpr std::string_view kBeforeNames = "NIZKPROJEM_";
  if (at == 0 || kBeforeNames.find(mangled[at - 1]) == std::string_view::npos) return false;
  const std::size_t behind = mangled.find_first_not_of("0123456789", at);
  const bool is_discriminator = behind != std::string_view::npos && mangled[behind] == '_' && (mangled[at - 1] == 'E' || mangled[at - 1] == '_');
  return !is_discriminator;
}

// The demangler searches expansions of parameter packs for their pack without remembering what it has seen. If types refer to types that refer to
// types, this takes practically forever. A name with such an expansion is known to be harmless if the expanded pattern is a parameter itself, or if the
// name has few references.
bool is_endless_to_demangle(std::string_view mangled) {
  std::size_t references = 0;
  bool holds_expansion = false;
  std::size_t name_end = 0;  // end of the last identifier: in nested names the length of the next one follows directly
  for (std::size_t at = 0; at < mangled.size();) {
    const std::string_view rest = mangled.substr(at);
    if (std::isdigit(static_cast<unsigned char>(rest.front())) != 0) {
      std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
      std::size_t length = 0;
      if (digits < 6 && (at == name_end || is_length(mangled, at))) length = std::strtoul(std::string(rest.substr(0, digits)).c_str(), nullptr, 10);
      at += std::min(rest.size(), digits + length);
      if (length > 0) name_end = at;
      continue;
    }
    if (rest.starts_with('S')) ++references;
    const bool is_expansion = rest.starts_with("Dp");
    if (is_expansion) {
      const std::size_t pattern = std::min(rest.find_first_not_of("RKOPV", 2), rest.size());
      holds_expansion = holds_expansion || !rest.substr(pattern).starts_with('T');
    }
    if (rest.starts_with("sp") || rest.starts_with("sZ") || rest.starts_with("sP")) holds_expansion = true;
    ++at;
  }
  return holds_expansion && references > kFewReferences;
}

#ifdef LANESCOPE_DEMANGLE_CALLBACK

struct Demangled {
  std::string text;
  std::jmp_buf too_long;
};

void take_piece(const char* piece, std::size_t bytes, void* name) {
  auto& demangled = *static_cast<Demangled*>(name);
  if (demangled.text.size() + bytes > limits::kDemangledBytes) std::longjmp(demangled.too_long, 1);
  demangled.text.append(piece, bytes);
}

// Returns an empty string if it is not a mangled name, or if the result is longer than the limit.
std::string demangled_or_empty(const std::string& mangled) {
  Demangled demangled;
  // The jump only skips frames of C.
  if (setjmp(demangled.too_long) != 0 || __gcclibcxx_demangle_callback(mangled.c_str(), &take_piece, &demangled) != 0) return {};
  return std::move(demangled.text);
}

#else

std::string demangled_or_empty(const std::string& mangled) {
  if (static_cast<std::size_t>(std::count(mangled.begin(), mangled.end(), 'S')) > kFewReferences) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> result(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && result ? std::string(result.get()) : std::string();
}

#endif

// Position after the bracket that opens at `open` and its contents; the end if it is not closed. The ">" of "->" closes no bracket.
std::size_t behind_bracket(std::string_view name, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '<' || c == '(' || c == '{') ++depth;
    const bool closes = c == ')' || c == '}' || (c == '>' && name[at - 1] != '-');
    if (closes && --depth == 0) return at + 1;
  }
  return name.size();
}

// The operator at the start of the text, which follows the word "operator". What follows the operator may be template arguments.
std::string_view operator_symbol(std::string_view text) {
  constexpr std::string_view kLonger[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
                                          "--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "->", "()", "[]"};
  for (const std::string_view each : kLonger)
    if (text.starts_with(each)) return each;
  return text.substr(0, 1);
}

// "_ZN3c106detail3addIiEEvT_" -> "c10::detail::add"; empty if it does not start with a plain name.
std::string first_mangled_scopes(std::string_view mangled) {
  std::string scopes;
  std::size_t at = mangled.find_first_of("0123456789", 2);
  while (at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0) {
    std::size_t length = 0;
    for (; at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0; ++at)
      length = std::min(mangled.size(), length * 10 + static_cast<std::size_t>(mangled[at] - '0'));
    scopes.append(scopes.empty() ? "" : "::").append(mangled.substr(at, length));
    at += length;
  }
  return scopes;
}

}  // namespace

std::string demangle(std::string_view mangled) {
  std::string name(mangled);
  if (!mangled.starts_with("_Z")) return name;  // a function "f", which would be the mangled form of the type float
  if (mangled.size() > limits::kMangledBytes || is_endless_to_demangle(mangled)) return name;
  std::string demangled = demangled_or_empty(name);
  return demangled.empty() ? name : demangled;
}

namespace {

std::string_view own_name(std::string_view demangled) {
  // One pass: `begin` follows the last "::" or blank outside of brackets; the first "<" or "(" after the name ends it.
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

// The kernels of CUTLASS are one function whose first template argument is the operation: that argument without scopes and its own arguments. Empty for others.
std::string_view operation_of_cutlass(std::string_view demangled, std::string_view name) {
  constexpr std::string_view kScope = "cutlass::";
  if (name != "Kernel" && name != "Kernel2" && name != "device_kernel") return {};
  const auto begin = static_cast<std::size_t>(name.data() - demangled.data());
  const std::string_view before = demangled.substr(0, begin), behind = demangled.substr(begin + name.size());
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (!before.ends_with(kScope) || !behind.starts_with('<')) return {};
  if (before.size() > kScope.size() && is_of_name(before[before.size() - kScope.size() - 1])) return {};  // mycutlass::
  std::string_view argument = behind.substr(1);
  if (argument.starts_with("::")) argument.remove_prefix(2);
  std::size_t start = 0, end = 0;
  while (end < argument.size() && (is_of_name(argument[end]) || argument[end] == ':')) {
    if (argument[end] == ':') start = end + 1;
    ++end;
  }
  if (end < argument.size() && argument[end] == ' ') return {};  // "unsigned int", "const Operation"
  return argument.substr(start, end - start);
}

}  // namespace

std::string_view short_kernel_name(std::string_view demangled) {
  const std::string_view name = own_name(demangled);
  const std::string_view operation = operation_of_cutlass(demangled, name);
  return operation.empty() ? name : operation;
}

std::string scoped_function_name(std::string_view demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::", kOperator = "operator";
  if (demangled.starts_with("_Z")) {
    std::string scopes = first_mangled_scopes(demangled);
    return scopes.empty() ? std::string(demangled) : scopes;
  }
  std::string name;
  for (std::size_t at = 0; at < demangled.size();) {
    const std::string_view rest = demangled.substr(at);
    const bool is_operator = name.ends_with(kOperator) && (name.size() == kOperator.size() || name.ends_with("::operator"));
    if (rest.starts_with(kAnonymous)) {
      at += kAnonymous.size();
    } else if (is_operator && std::isalnum(static_cast<unsigned char>(rest.front())) == 0) {
      // `new`, the target type of a conversion, or the suffix of a literal operator
      const bool is_word = rest.starts_with(' ') || rest.starts_with('"');
      name.append(is_word ? rest.substr(0, rest.find('(')) : operator_symbol(rest));
      break;
    } else if (rest.front() == '<' && at == 0 && !rest.starts_with("<<") && demangled.substr(behind_bracket(demangled, at)).starts_with("::")) {
      const std::size_t end = behind_bracket(demangled, at);  // Rust: "<Type as Trait>::method"; a type that has this form itself is left out
      const std::string_view within = demangled.substr(at + 1, end - at - 2);
      name = scoped_function_name(within.substr(0, within.find(" as ")));
      at = end;
    } else if (rest.front() == '(' && name.ends_with('.')) {
      const std::size_t end = behind_bracket(demangled, at);  // Go: "main.(*Server).handle"
      name.append(demangled.substr(at, end - at));
      at = end;
    } else if (rest.front() == '(' && name == "decltype") {
      at = behind_bracket(demangled, at);
    } else if (rest.front() == '<' || (rest.front() == '(' && name.empty())) {  // a type in brackets belongs to the return type
      at = behind_bracket(demangled, at);
    } else if (rest.front() == '(' || rest.front() == '{') {
      break;
    } else if (rest.front() == ' ') {
      name.clear();
      ++at;
    } else {
      name += rest.front();
      ++at;
    }
  }
  while (name.ends_with(':')) name.pop_back();
  return name.empty() ? std::string(demangled) : name;
}

}  // namespace lanescope
