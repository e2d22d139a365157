// NVIDIA's disassembler, where the user has it.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include <QString>

#include "model/kernels/code/kernel_code.h"

namespace lanescope::ui {

// `nvdisasm` of PATH, of CUDA_HOME or CUDA_PATH, or of /usr/local/cuda; empty where there is none.
[[nodiscard]] QString find_disassembler();

// What it says of the function, which is of this image, within some seconds; none where it fails, or says nothing of that. Blocks: not for the
// GUI thread.
[[nodiscard]] std::optional<kernels::Disassembly> disassemble(const QString& disassembler, const std::string& image, const kernels::KernelCode& function,
                                                              const std::stop_token& stop);

}  // namespace lanescope::ui
