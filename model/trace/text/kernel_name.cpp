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
// What abi::__cxa_demangle is made of in libsupc++: it hands over the name in pieces.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled, void (*take)(const char* piece, std::size_t bytes, void* name), void* name);
#endif

namespace lanescope {
namespace {

constexpr std::size_t kFewReferences = 12;  // names with no more are at most 2^12 times as long as mangled

// Whether a number at `at` says how long the identifier behind it is. Where it may say something else, such as a literal, it does not.
bool is_length(std::string_view mangled, std::size_t at) {
  constexpr std::string_view kBeforeNames = "NIZKPROJEM_";
  if (at == 0 || kBeforeNames.find(mangled[at - 1]) == std::string_view::npos) return false;
  const std::size_t behind = mangled.find_first_not_of("0123456789", at);
  const bool is_discriminator = behind != std::string_view::npos && mangled[behind] == '_' && (mangled[at - 1] == 'E' || mangled[at - 1] == '_');
  return !is_discriminator;
}

// Expansions of parameter packs are searched for their pack without a memory of what was seen: where types refer to types that refer to
// types, for ever. Names of what such an expansion holds are known to be harmless where it is a parameter itself, or refers to little.
bool is_endless_to_demangle(std::string_view mangled) {
  std::size_t references = 0;
  bool holds_expansion = false;
  std::size_t name_end = 0;  // of the identifier that was passed last: in nested names the next one's length stands right behind it
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

// None where it is not a mangled name, or longer than the limit.
std::string demangled_or_empty(const std::string& mangled) {
  Demangled demangled;
  // The jump passes frames of C alone.
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

// Behind the bracket at `open` and what it holds; the end where it is not closed. The ">" of "->" closes none.
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

// What an operator's name begins with behind the word: what follows it may be arguments of a template.
std::string_view operator_symbol(std::string_view text) {
  constexpr std::string_view kLonger[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
                                          "--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "->", "()", "[]"};
  for (const std::string_view each : kLonger)
    if (text.starts_with(each)) return each;
  return text.substr(0, 1);
}

// "_ZN3c106detail3addIiEEvT_" -> "c10::detail::add"; empty where it begins with no plain name.
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
  if (!mangled.starts_with("_Z")) return name;  // a function "f", which would be the mangled type float
  if (mangled.size() > limits::kMangledBytes || is_endless_to_demangle(mangled)) return name;
  std::string demangled = demangled_or_empty(name);
  return demangled.empty() ? name : demangled;
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
      // new, the type that is converted to, or what stands behind a literal
      const bool is_word = rest.starts_with(' ') || rest.starts_with('"');
      name.append(is_word ? rest.substr(0, rest.find('(')) : operator_symbol(rest));
      break;
    } else if (rest.front() == '<' && at == 0 && !rest.starts_with("<<") && demangled.substr(behind_bracket(demangled, at)).starts_with("::")) {
      const std::size_t end = behind_bracket(demangled, at);  // Rust: "<Type as Trait>::method"; a type that is one itself stays out
      const std::string_view within = demangled.substr(at + 1, end - at - 2);
      name = scoped_function_name(within.substr(0, within.find(" as ")));
      at = end;
    } else if (rest.front() == '(' && name.ends_with('.')) {
      const std::size_t end = behind_bracket(demangled, at);  // Go: "main.(*Server).handle"
      name.append(demangled.substr(at, end - at));
      at = end;
    } else if (rest.front() == '(' && name == "decltype") {
      at = behind_bracket(demangled, at);
    } else if (rest.front() == '<' || (rest.front() == '(' && name.empty())) {  // a type in brackets is the result's
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
