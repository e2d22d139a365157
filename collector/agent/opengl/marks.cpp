#include "agent/opengl/marks.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <nvtx3/nvToolsExt.h>

#include "agent/process/lock.h"

namespace lanescope::agent::opengl {
namespace {

constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kMostSurfaces = 16;

struct Surface {
  Word handle;
  std::uint64_t frames;
  nvtxRangeId_t open;
};

Lock lock;
std::atomic<int> state{0};  // 0: not asked, 1: nobody records, 2: the domain exists
nvtxDomainHandle_t domain = nullptr;
Surface surfaces[kMostSurfaces];
std::size_t surface_count = 0;
thread_local std::uint32_t pushed = 0;  // number of open ranges

bool is_recorded() noexcept {
  if (state.load(std::memory_order_acquire) == 0) {
    const ScopedLock locked(lock);
    if (state.load(std::memory_order_relaxed) == 0) {
      domain = nvtxDomainCreateA("OpenGL");
      state.store(domain == nullptr ? 1 : 2, std::memory_order_release);
    }
  }
  return state.load(std::memory_order_relaxed) == 2;
}

nvtxEventAttributes_t named(const char* text) noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  return attributes;
}

class Text {
 public:
  Text(const char* text, std::int64_t length) noexcept {
    if (text == nullptr) return;
    const std::size_t most = kLongestText - 1;
    const std::size_t size = length < 0 ? strnlen(text, most) : std::min(static_cast<std::size_t>(length), most);
    std::memcpy(bytes_, text, size);
  }
  [[nodiscard]] const char* get() const noexcept { return bytes_; }

 private:
  char bytes_[kLongestText] = {};
};

}  // namespace

void push(const char* text) noexcept {
  if (!is_recorded()) return;
  const nvtxEventAttributes_t attributes = named(text);
  nvtxDomainRangePushEx(domain, &attributes);
  ++pushed;
}

void push(const char* text, std::int64_t length) noexcept { push(Text(text, length).get()); }

// A program may end a group on another thread than the one that began it, because groups belong to a context.
void pop() noexcept {
  if (pushed == 0 || !is_recorded()) return;
  nvtxDomainRangePop(domain);
  --pushed;
}

void mark(const char* text, std::int64_t length) noexcept {
  if (!is_recorded()) return;
  const Text copy(text, length);
  const nvtxEventAttributes_t attributes = named(copy.get());
  nvtxDomainMarkEx(domain, &attributes);
}

void end_frame(Word handle) noexcept {
  if (!is_recorded()) return;
  const ScopedLock locked(lock);
  Surface* const end = surfaces + surface_count;
  Surface* surface = std::find_if(surfaces, end, [handle](const Surface& known) { return known.handle == handle; });
  if (surface == end) {
    if (surface_count == kMostSurfaces) return;
    surfaces[surface_count++] = {handle, 0, 0};
  } else {
    nvtxDomainRangeEnd(domain, surface->open);
  }
  nvtxEventAttributes_t attributes = named("frame");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  attributes.payload.ullValue = ++surface->frames;
  surface->open = nvtxDomainRangeStartEx(domain, &attributes);
}

}  // namespace lanescope::agent::opengl
