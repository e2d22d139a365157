// The things that NVTX names: domains, their categories, threads, devices, contexts and streams; and the strings that a program registers.
//
// Domains and registered strings live as long as the process, because NVTX hands out pointers to them; equal names share one. When the room for them is used
// up, one stands for all others, and the session is told. Names are sent to the host at once, and again to the next session and by a forked child, which has no
// CUDA names. Of the names of categories, threads and CUDA resources, the newest of each sort are kept (kept_names.h).
//
// Threads: any. Functions take a lock for some loads and a copy, however much was named before. Reading a Domain or a RegisteredString needs no lock, because
// they never change.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope::agent::nvtx {

struct Domain {
  std::uint32_t id = 0;  // of NvtxDomain; the default domain is 0 and has no Domain
  std::string_view name;
  Domain* next = nullptr;          // the domain made before it
  Domain* next_of_name = nullptr;  // the next one in its bucket; likewise next_of_id
  Domain* next_of_id = nullptr;
};

struct RegisteredString {
  std::string_view text;
  std::uint32_t hash = 0;
  RegisteredString* next_in_bucket = nullptr;
};

// The domain of this name; makes it if it is new.
Domain* domain_named(std::string_view name) noexcept;

// The name of a domain; empty for the default domain and for an unknown one.
std::string_view domain_name(std::uint32_t id) noexcept;

// The registered string of this text; makes it if it is new.
RegisteredString* register_string(std::string_view text) noexcept;

void name_category(std::uint32_t domain, std::uint32_t category, std::string_view name) noexcept;
void name_thread(std::uint32_t thread_id, std::string_view name) noexcept;

enum class CudaResource : std::uint32_t { kDevice = 1, kContext = 2, kStream = 3 };  // the first two as in proto::CudaName
// `id`: a device's ordinal, or CUPTI's id; `context`: the context of a stream, else 0.
void name_cuda_resource(CudaResource resource, std::uint32_t context, std::uint32_t id, std::string_view name) noexcept;

// Call once, before any other function of this header.
void prepare_names() noexcept;

}  // namespace lanescope::agent::nvtx
