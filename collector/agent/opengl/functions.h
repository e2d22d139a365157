// The functions of OpenGL before which we stand.
//
// A program reaches one of them in two ways: by its name, which the loader binds to ours (LD_PRELOAD), or by asking for its address, either the loader (dlsym)
// or OpenGL (glXGetProcAddress), as GLFW, SDL and GLEW do. If it asks, it gets the address of a function of ours that calls exactly the function that it would
// have got. There are several of ours for each, because a program may ask several libraries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope::agent::opengl {

// The content of a register: a pointer, a number of any size, an enumeration. None of the functions takes more than six arguments, or floating-point ones.
using Word = std::uintptr_t;

enum class Function : std::uint8_t {
  kGlxSwapBuffers,
  kGlxSwapBuffersMsc,
  kGlxGetAddress,
  kGlxGetAddressArb,
  kEglSwapBuffers,
  kEglSwapBuffersExt,
  kEglSwapBuffersKhr,
  kEglGetAddress,
  kPushGroup,
  kPushGroupKhr,
  kPopGroup,
  kPopGroupKhr,
  kInsertMessage,
  kInsertMessageArb,
  kInsertMessageKhr,
  kPushMarker,
  kPopMarker,
  kInsertMarker,
  kInsertString,
  kEndFrame,
};
inline constexpr std::size_t kFunctions = static_cast<std::size_t>(Function::kEndFrame) + 1;

[[nodiscard]] const char* name_of(Function function) noexcept;

// The answer for a program that asked for a function of this name and would get `address`: one of our functions, which continues there, or `address` itself if
// we do not stand before such a function. Any thread, without a lock.
[[nodiscard]] void* answer(const char* name, void* address) noexcept;
// True if we stand before a function of this name. O(1) for nearly all other names.
[[nodiscard]] bool is_stood_before(const char* name) noexcept;
// The function that a call by this name would reach without us; null if there is none.
[[nodiscard]] void* next_of(const char* name) noexcept;

}  // namespace lanescope::agent::opengl
