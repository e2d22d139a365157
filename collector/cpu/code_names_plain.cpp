// Without libdw: native code stays without names, and is known by file and address.
#include "code_names.h"

namespace lanescope::cpu {

struct CodeNames::Files {};

CodeNames::CodeNames(const std::string&) {}
CodeNames::~CodeNames() = default;
std::vector<CodeName> CodeNames::find(const Module&, std::uint64_t) { return {}; }
bool have_code_names() noexcept { return false; }

}  // namespace lanescope::cpu
