// What is recorded of OpenGL: NVTX ranges and marks of the domain "OpenGL".
//
// A frame is a range from where a swap of buffers returned to where the next one of the same surface does, with its number as payload; the last
// one is never finished. Swaps are ranges of their thread, too; so are debug groups, by their messages. Messages that a program inserts are marks.
#pragma once

#include "agent/opengl/functions.h"

namespace lanescope::agent::opengl {

void push(const char* text) noexcept;
// `length`: of the text; negative where it ends with a zero. Texts beyond a thousand bytes are cut.
void push(const char* text, std::int64_t length) noexcept;
void pop() noexcept;
void mark(const char* text, std::int64_t length) noexcept;
// `surface`: what has been swapped, a window say. Frames of more than 16 surfaces are not followed.
void end_frame(Word surface) noexcept;

}  // namespace lanescope::agent::opengl
