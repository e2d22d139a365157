#include "code_lines.h"

#include <map>
#include <utility>

#include "model/trace/last_path_part.h"

namespace lanescope::kernels {
namespace {

constexpr std::size_t kMostLineBytes = 64u << 20;  // of the texts of all lines: beyond, where a line was inlined is not said

std::string place_text(const SourcePlace& place) {
  constexpr std::size_t kLongestFile = 255;  // bytes, as file systems have it
  return std::string(last_path_part(place.file).substr(0, kLongestFile)) + ":" + std::to_string(place.line);
}

}  // namespace

CodeLines::CodeLines(const KernelRecords& records) : records_(records), code_of_function_(records.functions.size()) {
  std::map<std::pair<ProcessId, std::uint64_t>, std::uint32_t> positions;
  for (std::uint32_t i = 0; i < records.code.size(); ++i) positions.try_emplace({records.code[i]->process, records.code[i]->crc}, i);
  for (std::size_t i = 0; i < records.functions.size(); ++i) {
    const auto found = positions.find({records.functions[i].process, records.functions[i].code_object});
    code_of_function_[i] = found == positions.end() ? kNone : found->second;
  }
}

std::string CodeLines::text(GpuFunctionId id, std::uint32_t pc) {
  read(code_of_function_[id]);
  const CubinFunction* const function = cubin_ ? cubin_->function(records_.functions[id].index) : nullptr;
  std::string text;
  if (function == nullptr) return text;
  for (const SourcePlace& place : cubin_->source(*function, pc)) {
    if (!text.empty() && line_bytes_ > kMostLineBytes) break;
    text += (text.empty() ? "" : " < ") + place_text(place);
  }
  line_bytes_ += text.size();
  return text;
}

void CodeLines::read(std::uint32_t code) {
  if (code == read_) return;
  read_ = code;
  cubin_.reset();
  if (code == kNone || !records_.code[code]->whole()) return;
  if (Result<Cubin> cubin = Cubin::read(records_.code[code]->image)) cubin_ = std::move(*cubin);
}

}  // namespace lanescope::kernels
