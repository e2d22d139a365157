// Without libdw, or on a machine whose registers are not known here: only the thread's place is known.
#include "unwinder.h"

namespace lanescope::cpu {

struct Unwinder::Tables {};

Unwinder::Unwinder() = default;
Unwinder::~Unwinder() = default;
std::span<const std::uint64_t> Unwinder::unwind(const AddressSpace&, const UserRegisters& registers, std::span<const std::byte>,
                                                const std::function<bool(std::uint64_t address)>&) {
  chain_ = {registers[kInstructionPointer]};
  return chain_;
}

}  // namespace lanescope::cpu
