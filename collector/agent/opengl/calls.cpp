#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>
#include <utility>

#include "agent/core/loader/stood_before.h"
#include "agent/opengl/functions.h"
#include "agent/opengl/marks.h"

namespace lanescope::agent::opengl {
namespace {

constexpr std::array<const char*, kFunctions> kNames{
    "glXSwapBuffers",
    "glXSwapBuffersMscOML",
    "glXGetProcAddress",
    "glXGetProcAddressARB",
    "eglSwapBuffers",
    "eglSwapBuffersWithDamageEXT",
    "eglSwapBuffersWithDamageKHR",
    "eglGetProcAddress",
    "glPushDebugGroup",
    "glPushDebugGroupKHR",
    "glPopDebugGroup",
    "glPopDebugGroupKHR",
    "glDebugMessageInsert",
    "glDebugMessageInsertARB",
    "glDebugMessageInsertKHR",
    "glPushGroupMarkerEXT",
    "glPopGroupMarkerEXT",
    "glInsertEventMarkerEXT",
    "glStringMarkerGREMEDY",
    "glFrameTerminatorGREMEDY",
};
constexpr std::size_t kAnswers = 6;  // per function

bool is_of_opengl(const char* file) noexcept {
  for (const std::string_view begin : {"libGL.so", "libGLX.so", "libEGL.so", "libOpenGL.so", "libGLESv2.so"})
    if (std::string_view(file).starts_with(begin)) return true;
  return false;
}

constinit StoodBefore library{is_of_opengl};
constinit std::array<std::atomic<void*>, kFunctions> found_by_name{};
using Answers = std::array<std::atomic<void*>, kAnswers>;  // the functions to which our given-out functions continue
constinit std::array<Answers, kFunctions> found_by_asking{};
thread_local std::uint32_t depth = 0;  // nesting depth of calls of these functions

// Calls that OpenGL, or another library that stands before it, makes inside of such a call belong to that call.
class Depth {
 public:
  Depth() noexcept { ++depth; }
  ~Depth() { --depth; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  [[nodiscard]] bool is_outermost() const noexcept { return depth == 1; }
};

// A C int that was passed in a register.
std::int64_t length_of(Word word) noexcept { return static_cast<std::int32_t>(word); }
const char* text_of(Word word) noexcept { return reinterpret_cast<const char*>(word); }

Word call(Function function, void* next, Word a, Word b, Word c, Word d, Word e, Word f) noexcept {
  const Depth here;
  const auto go_on = [&] { return next == nullptr ? 0 : reinterpret_cast<Word (*)(Word, Word, Word, Word, Word, Word)>(next)(a, b, c, d, e, f); };
  if (function == Function::kGlxGetAddress || function == Function::kGlxGetAddressArb || function == Function::kEglGetAddress)
    return reinterpret_cast<Word>(answer(text_of(a), reinterpret_cast<void*>(go_on())));
  if (!here.is_outermost()) return go_on();
  switch (function) {
    case Function::kGlxSwapBuffers:
    case Function::kGlxSwapBuffersMsc:
    case Function::kEglSwapBuffers:
    case Function::kEglSwapBuffersExt:
    case Function::kEglSwapBuffersKhr: {
      push(name_of(function));
      const Word result = go_on();
      pop();
      end_frame(b);
      return result;
    }
    case Function::kEndFrame: {
      const Word result = go_on();
      end_frame(0);
      return result;
    }
    case Function::kPushGroup:
    case Function::kPushGroupKhr:
      push(text_of(d), length_of(c));
      return go_on();
    case Function::kPushMarker:
      push(text_of(b), length_of(a) == 0 ? -1 : length_of(a));  // in EXT_debug_marker, 0 means that the text ends with a zero
      return go_on();
    case Function::kPopGroup:
    case Function::kPopGroupKhr:
    case Function::kPopMarker: {
      const Word result = go_on();
      pop();
      return result;
    }
    case Function::kInsertMessage:
    case Function::kInsertMessageArb:
    case Function::kInsertMessageKhr:
      mark(text_of(f), length_of(e));
      return go_on();
    case Function::kInsertMarker:
    case Function::kInsertString:
      mark(text_of(b), length_of(a) == 0 ? -1 : length_of(a));
      return go_on();
    default:
      return go_on();
  }
}

template <std::size_t kFunction, std::size_t kAnswer>
Word called_by_address(Word a, Word b, Word c, Word d, Word e, Word f) noexcept {
  return call(static_cast<Function>(kFunction), found_by_asking[kFunction][kAnswer].load(std::memory_order_acquire), a, b, c, d, e, f);
}

using Called = Word (*)(Word, Word, Word, Word, Word, Word) noexcept;

template <std::size_t kFunction, std::size_t... kEach>
constexpr std::array<Called, kAnswers> answers_of(std::index_sequence<kEach...>) {
  return {&called_by_address<kFunction, kEach>...};
}
template <std::size_t... kEach>
constexpr std::array<std::array<Called, kAnswers>, kFunctions> all_answers(std::index_sequence<kEach...>) {
  return {answers_of<kEach>(std::make_index_sequence<kAnswers>())...};
}
constexpr auto kOurs = all_answers(std::make_index_sequence<kFunctions>());

std::size_t index_of(const char* name) noexcept {
  if (name == nullptr || (name[0] != 'g' && name[0] != 'e')) return kFunctions;
  const auto found = std::find_if(kNames.begin(), kNames.end(), [name](const char* known) { return std::strcmp(known, name) == 0; });
  return static_cast<std::size_t>(found - kNames.begin());
}

Word call_by_name(Function function, Word a, Word b, Word c, Word d, Word e, Word f) noexcept {
  std::atomic<void*>& known = found_by_name[static_cast<std::size_t>(function)];
  void* next = known.load(std::memory_order_acquire);
  if (next == nullptr) known.store(next = next_of(name_of(function)), std::memory_order_release);
  return call(function, next, a, b, c, d, e, f);
}

}  // namespace

const char* name_of(Function function) noexcept { return kNames[static_cast<std::size_t>(function)]; }

bool is_stood_before(const char* name) noexcept { return index_of(name) < kFunctions; }

void* next_of(const char* name) noexcept { return library.function(name); }

}  // namespace lanescope::agent::opengl

// LANESCOPE_OPENGL(name, function): the function has another name for the compiler, and OpenGL's name for the linker.
#define LANESCOPE_OPENGL(name, function)                                                                                              \
  extern "C" __attribute__((visibility("default"))) lanescope::agent::opengl::Word lanescope_##name(                                  \
      lanescope::agent::opengl::Word, lanescope::agent::opengl::Word, lanescope::agent::opengl::Word, lanescope::agent::opengl::Word, \
      lanescope::agent::opengl::Word, lanescope::agent::opengl::Word) __asm__(#name);                                                 \
  extern "C" lanescope::agent::opengl::Word lanescope_##name(lanescope::agent::opengl::Word a, lanescope::agent::opengl::Word b,      \
                                                             lanescope::agent::opengl::Word c, lanescope::agent::opengl::Word d,      \
                                                             lanescope::agent::opengl::Word e, lanescope::agent::opengl::Word f) {    \
    return lanescope::agent::opengl::call_by_name(lanescope::agent::opengl::Function::function, a, b, c, d, e, f);                    \
  }

LANESCOPE_OPENGL(glXSwapBuffers, kGlxSwapBuffers)
LANESCOPE_OPENGL(glXSwapBuffersMscOML, kGlxSwapBuffersMsc)
LANESCOPE_OPENGL(glXGetProcAddress, kGlxGetAddress)
LANESCOPE_OPENGL(glXGetProcAddressARB, kGlxGetAddressArb)
LANESCOPE_OPENGL(eglSwapBuffers, kEglSwapBuffers)
LANESCOPE_OPENGL(eglSwapBuffersWithDamageEXT, kEglSwapBuffersExt)
LANESCOPE_OPENGL(eglSwapBuffersWithDamageKHR, kEglSwapBuffersKhr)
LANESCOPE_OPENGL(eglGetProcAddress, kEglGetAddress)
LANESCOPE_OPENGL(glPushDebugGroup, kPushGroup)
LANESCOPE_OPENGL(glPushDebugGroupKHR, kPushGroupKhr)
LANESCOPE_OPENGL(glPopDebugGroup, kPopGroup)
LANESCOPE_OPENGL(glPopDebugGroupKHR, kPopGroupKhr)
LANESCOPE_OPENGL(glDebugMessageInsert, kInsertMessage)
LANESCOPE_OPENGL(glDebugMessageInsertARB, kInsertMessageArb)
LANESCOPE_OPENGL(glDebugMessageInsertKHR, kInsertMessageKhr)
LANESCOPE_OPENGL(glPushGroupMarkerEXT, kPushMarker)
LANESCOPE_OPENGL(glPopGroupMarkerEXT, kPopMarker)
LANESCOPE_OPENGL(glInsertEventMarkerEXT, kInsertMarker)
LANESCOPE_OPENGL(glStringMarkerGREMEDY, kInsertString)
LANESCOPE_OPENGL(glFrameTerminatorGREMEDY, kEndFrame)

namespace lanescope::agent::opengl {
namespace {

bool is_ours_by_name(const void* address) noexcept {
  static const void* const ours[] = {
      reinterpret_cast<const void*>(&lanescope_glXSwapBuffers),
      reinterpret_cast<const void*>(&lanescope_glXSwapBuffersMscOML),
      reinterpret_cast<const void*>(&lanescope_glXGetProcAddress),
      reinterpret_cast<const void*>(&lanescope_glXGetProcAddressARB),
      reinterpret_cast<const void*>(&lanescope_eglSwapBuffers),
      reinterpret_cast<const void*>(&lanescope_eglSwapBuffersWithDamageEXT),
      reinterpret_cast<const void*>(&lanescope_eglSwapBuffersWithDamageKHR),
      reinterpret_cast<const void*>(&lanescope_eglGetProcAddress),
      reinterpret_cast<const void*>(&lanescope_glPushDebugGroup),
      reinterpret_cast<const void*>(&lanescope_glPushDebugGroupKHR),
      reinterpret_cast<const void*>(&lanescope_glPopDebugGroup),
      reinterpret_cast<const void*>(&lanescope_glPopDebugGroupKHR),
      reinterpret_cast<const void*>(&lanescope_glDebugMessageInsert),
      reinterpret_cast<const void*>(&lanescope_glDebugMessageInsertARB),
      reinterpret_cast<const void*>(&lanescope_glDebugMessageInsertKHR),
      reinterpret_cast<const void*>(&lanescope_glPushGroupMarkerEXT),
      reinterpret_cast<const void*>(&lanescope_glPopGroupMarkerEXT),
      reinterpret_cast<const void*>(&lanescope_glInsertEventMarkerEXT),
      reinterpret_cast<const void*>(&lanescope_glStringMarkerGREMEDY),
      reinterpret_cast<const void*>(&lanescope_glFrameTerminatorGREMEDY),
  };
  return std::find(std::begin(ours), std::end(ours), address) != std::end(ours);
}

}  // namespace

void* answer(const char* name, void* address) noexcept {
  const std::size_t function = index_of(name);
  if (function == kFunctions || address == nullptr || is_ours_by_name(address)) return address;
  for (const auto& ours : kOurs)
    if (std::find(ours.begin(), ours.end(), reinterpret_cast<Called>(address)) != ours.end()) return address;
  for (std::size_t i = 0; i < kAnswers; ++i) {
    void* known = nullptr;
    std::atomic<void*>& place = found_by_asking[function][i];
    if (place.compare_exchange_strong(known, address, std::memory_order_acq_rel) || known == address) return reinterpret_cast<void*>(kOurs[function][i]);
  }
  return address;
}

}  // namespace lanescope::agent::opengl
