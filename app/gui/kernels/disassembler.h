// Runs NVIDIA's disassembler, if the user has it.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include <QString>

#include "model/kernels/code/kernel_code.h"

namespace lanescope::ui {

// The path of `nvdisasm` in PATH, in CUDA_HOME or CUDA_PATH, or in /usr/local/cuda; empty if there is none.
[[nodiscard]] QString find_disassembler();

// The disassembly of a function of this image; nothing if the disassembler fails, takes more than some seconds, or does not list the function. Blocks: not for
// the GUI thread.
[[nodiscard]] std::optional<kernels::Disassembly> disassemble(const QString& disassembler, const std::string& image, const kernels::KernelCode& function,
                                                              const std::stop_token& stop);

}  // namespace lanescope::ui
