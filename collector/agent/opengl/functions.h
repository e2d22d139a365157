// The functions of OpenGL before which we stand.
//
// A program comes to one of them in two ways: by its name, which the loader binds to ours (LD_PRELOAD), or by asking for its address, of the
// loader (dlsym) or of OpenGL (glXGetProcAddress), as GLFW, SDL and GLEW do. Where it asks, it gets the address of a function of ours that goes
// on to the very function that it would have got: there are several of ours for each, since a program may ask several libraries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope::agent::opengl {

// What a register holds: a pointer, a number of any size, an enumeration. None of the functions takes more than six, or reals.
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

// What a program that asked for a function of this name, and would get `address`, gets: one of ours that goes on there, or `address` itself where
// we stand before no such function. Any thread, without a lock.
[[nodiscard]] void* answer(const char* name, void* address) noexcept;
// Whether we stand before a function of this name. O(1) for nearly all that are none.
[[nodiscard]] bool is_stood_before(const char* name) noexcept;
// The function of this name that a call by its name comes to without us; null where there is none.
[[nodiscard]] void* next_of(const char* name) noexcept;

}  // namespace lanescope::agent::opengl
