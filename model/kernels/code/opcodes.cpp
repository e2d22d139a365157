// Opcodes of compute capability 7.0 to 9.0: the low nine bits of an instruction. The three bits above them encode the source of an operand.
#include <algorithm>
#include <array>

#include "model/kernels/code/kernel_code.h"

namespace lanescope::kernels {
namespace {

struct Opcode {
  std::uint16_t code;
  std::string_view name;
};
constexpr std::array kOpcodes{
    Opcode{0x002, "MOV"},   Opcode{0x005, "CS2R"},  Opcode{0x006, "VOTE"},   Opcode{0x007, "SEL"},       Opcode{0x008, "FSEL"},  Opcode{0x009, "FMNMX"},
    Opcode{0x00b, "FSETP"}, Opcode{0x00c, "ISETP"}, Opcode{0x010, "IADD3"},  Opcode{0x011, "LEA"},       Opcode{0x012, "LOP3"},  Opcode{0x013, "IABS"},
    Opcode{0x016, "PRMT"},  Opcode{0x017, "IMNMX"}, Opcode{0x019, "SHF"},    Opcode{0x01c, "PLOP3"},     Opcode{0x020, "FMUL"},  Opcode{0x021, "FADD"},
    Opcode{0x023, "FFMA"},  Opcode{0x024, "IMAD"},  Opcode{0x025, "IMAD"},   Opcode{0x027, "IMAD"},      Opcode{0x028, "DMUL"},  Opcode{0x029, "DADD"},
    Opcode{0x02a, "DSETP"}, Opcode{0x02b, "DFMA"},  Opcode{0x030, "HADD2"},  Opcode{0x031, "HFMA2"},     Opcode{0x032, "HMUL2"}, Opcode{0x035, "HFMA2"},
    Opcode{0x036, "VIADD"}, Opcode{0x037, "IMMA"},  Opcode{0x03b, "LDSM"},   Opcode{0x03c, "HMMA"},      Opcode{0x03f, "DMMA"},  Opcode{0x045, "I2FP"},
    Opcode{0x082, "UMOV"},  Opcode{0x086, "VOTEU"}, Opcode{0x08c, "UISETP"}, Opcode{0x090, "UIADD3"},    Opcode{0x091, "ULEA"},  Opcode{0x092, "ULOP3"},
    Opcode{0x099, "USHF"},  Opcode{0x0a4, "UIMAD"}, Opcode{0x0b9, "ULDC"},   Opcode{0x0bd, "UFLO"},      Opcode{0x100, "FLO"},   Opcode{0x104, "F2F"},
    Opcode{0x105, "F2I"},   Opcode{0x106, "I2F"},   Opcode{0x108, "MUFU"},   Opcode{0x109, "POPC"},      Opcode{0x110, "F2F"},   Opcode{0x111, "F2I"},
    Opcode{0x112, "I2F"},   Opcode{0x118, "NOP"},   Opcode{0x119, "S2R"},    Opcode{0x11a, "DEPBAR"},    Opcode{0x11d, "BAR"},   Opcode{0x141, "BSYNC"},
    Opcode{0x142, "BREAK"}, Opcode{0x143, "CALL"},  Opcode{0x144, "CALL"},   Opcode{0x145, "BSSY"},      Opcode{0x147, "BRA"},   Opcode{0x148, "WARPSYNC"},
    Opcode{0x149, "BRX"},   Opcode{0x14d, "EXIT"},  Opcode{0x150, "RET"},    Opcode{0x180, "LD"},        Opcode{0x181, "LDG"},   Opcode{0x182, "LDC"},
    Opcode{0x183, "LDL"},   Opcode{0x184, "LDS"},   Opcode{0x185, "ST"},     Opcode{0x186, "STG"},       Opcode{0x187, "STL"},   Opcode{0x188, "STS"},
    Opcode{0x189, "SHFL"},  Opcode{0x18a, "ATOM"},  Opcode{0x18c, "ATOMS"},  Opcode{0x18d, "ATOMS"},     Opcode{0x18e, "RED"},   Opcode{0x192, "MEMBAR"},
    Opcode{0x1a8, "ATOMG"}, Opcode{0x1a9, "ATOMG"}, Opcode{0x1ae, "LDGSTS"}, Opcode{0x1af, "LDGDEPBAR"}, Opcode{0x1c2, "R2UR"},  Opcode{0x1c3, "S2UR"},
};
static_assert(std::is_sorted(kOpcodes.begin(), kOpcodes.end(), [](const Opcode& a, const Opcode& b) { return a.code < b.code; }));

}  // namespace

std::string_view opcode_name(std::span<const std::byte> instruction) noexcept {
  if (instruction.size() < 2) return {};
  const auto code = static_cast<std::uint16_t>((std::to_integer<unsigned>(instruction[0]) | std::to_integer<unsigned>(instruction[1]) << 8) & 0x1ff);
  const auto found = std::lower_bound(kOpcodes.begin(), kOpcodes.end(), code, [](const Opcode& opcode, std::uint16_t value) { return opcode.code < value; });
  return found != kOpcodes.end() && found->code == code ? found->name : std::string_view();
}

// Bits 24 to 31 are the register of the address. Register 1 holds the stack's begin by the convention of calls, and register 255 reads 0.
LocalAddress local_address(std::span<const std::byte> instruction) noexcept {
  constexpr std::size_t kRegister = 3;
  constexpr unsigned kStack = 1, kZero = 255;
  const std::string_view name = opcode_name(instruction);
  if (instruction.size() <= kRegister || (name != "LDL" && name != "STL")) return LocalAddress::kNone;
  const auto address = std::to_integer<unsigned>(instruction[kRegister]);
  return address == kStack || address == kZero ? LocalAddress::kFixed : LocalAddress::kComputed;
}

}  // namespace lanescope::kernels
