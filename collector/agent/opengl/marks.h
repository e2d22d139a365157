// Records OpenGL as NVTX ranges and marks of the domain "OpenGL".
//
// A frame is a range from the return of a swap of buffers to the return of the next swap of the same surface, with its number as payload; the last one is never
// finished. Swaps are also ranges of their thread. So are debug groups, named by their messages. Messages that a program inserts are marks.
#pragma once

#include "agent/opengl/functions.h"

namespace lanescope::agent::opengl {

void push(const char* text) noexcept;
// `length`: of the text; negative if it ends with a zero. Texts are cut after a thousand bytes.
void push(const char* text, std::int64_t length) noexcept;
void pop() noexcept;
void mark(const char* text, std::int64_t length) noexcept;
// `surface`: the swapped surface, for example a window. Frames of more than 16 surfaces are not followed.
void end_frame(Word surface) noexcept;

}  // namespace lanescope::agent::opengl
