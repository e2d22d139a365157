// Readable names of kernels and functions.
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

// "void at::Cache<long>::free(void*)::{lambda(int)#1}::operator()(int) const" -> "at::Cache::free": the function as a sentence has it, with its scopes, without
// return type, template arguments, parameters and what is local to it. Of a name that is mangled still, what leads to its first template argument;
// else the input, where nothing would be left. O(length).
[[nodiscard]] std::string scoped_function_name(std::string_view demangled);

}  // namespace lanescope
