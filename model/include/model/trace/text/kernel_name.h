// Readable names of kernels and functions.
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

// Returns the name as it is in C++ source, with its parameters. Returns the input if it is not a mangled name, or if its parts refer to each other so
// that the result would be longer than limits::kDemangledBytes. O(length of the result).
[[nodiscard]] std::string demangle(std::string_view mangled);

// "void at::native::(anonymous namespace)::reduce<4, float>(float*, int)" -> "reduce": without return type, namespaces, template
// arguments and parameters. A kernel of CUTLASS has the name of its operation: "void cutlass::Kernel2<cutlass_80_simt_sgemm>(...)" -> "cutlass_80_simt_sgemm".
[[nodiscard]] std::string_view short_kernel_name(std::string_view demangled);

// "void at::Cache<long>::free(void*)::{lambda(int)#1}::operator()(int) const" -> "at::Cache::free": the function as named in a sentence, with its
// scopes, without return type, template arguments, parameters and anything local to it. For a name that is still mangled: the part in front of its
// first template argument. Returns the input if nothing would be left. O(length).
[[nodiscard]] std::string scoped_function_name(std::string_view demangled);

}  // namespace lanescope
