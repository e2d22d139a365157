// What NVTX gives names to: domains, their categories, threads, devices, contexts and streams; and the strings that a program registers.
//
// Domains and registered strings live as long as the process: NVTX hands out pointers to them; there is one for equal names. Where the room for them ends,
// one stands for all others, and the session is told. Names are told to the host at once, and again to the next session and by a forked child,
// which has none of CUDA's: those of categories, threads and CUDA's the newest of each sort (kept_names.h).
//
// Threads: any; under a lock, for some loads and a copy, whatever was named before. Reading a Domain or a RegisteredString needs none: they never change.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope::agent::nvtx {

struct Domain {
  std::uint32_t id = 0;  // of NvtxDomain; the default domain is 0 and has no Domain
  std::string_view name;
  Domain* next = nullptr;          // made before it
  Domain* next_of_name = nullptr;  // in its bucket, as the next
  Domain* next_of_id = nullptr;
};

struct RegisteredString {
  std::string_view text;
  std::uint32_t hash = 0;
  RegisteredString* next_in_bucket = nullptr;
};

// The domain of this name, made where it is new.
Domain* domain_named(std::string_view name) noexcept;

// The name of a domain; empty for the default domain, and for none that is known.
std::string_view domain_name(std::uint32_t id) noexcept;

// Of this text, made where it is new.
RegisteredString* register_string(std::string_view text) noexcept;

void name_category(std::uint32_t domain, std::uint32_t category, std::string_view name) noexcept;
void name_thread(std::uint32_t thread_id, std::string_view name) noexcept;

enum class CudaResource : std::uint32_t { kDevice = 1, kContext = 2, kStream = 3 };  // the first two as proto::CudaName has them
// `id`: a device's ordinal, or CUPTI's id; `context`: of a stream, else 0.
void name_cuda_resource(CudaResource resource, std::uint32_t context, std::uint32_t id, std::string_view name) noexcept;

// Once, before any other function of this header.
void prepare_names() noexcept;

}  // namespace lanescope::agent::nvtx
