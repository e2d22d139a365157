// Readable names of kernels.
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

// The name as C++ source has it, parameters included; the input where it is not a mangled name, or one whose parts refer to each other so that
// it would become longer than limits::kDemangledBytes. O(length of the result).
[[nodiscard]] std::string demangle(std::string_view mangled);

// "void at::native::(anonymous namespace)::reduce<4, float>(float*, int)" -> "reduce": without return type, namespaces, template
// arguments and parameters.
[[nodiscard]] std::string_view short_kernel_name(std::string_view demangled);

}  // namespace lanescope
