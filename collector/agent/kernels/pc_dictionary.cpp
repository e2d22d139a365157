#include "agent/kernels/pc_dictionary.h"

namespace lanescope::agent::kernels {

std::uint32_t PcDictionary::function(std::uint64_t code_object, std::uint32_t index, std::string_view name) noexcept {
  const std::uint32_t id = functions_.id({code_object, index});
  if (id > name_of_.size() && !name_of_.push_back(names_.id(name))) return 0;
  return id;
}

std::uint32_t PcDictionary::reason(std::string_view name) noexcept { return reasons_.id(name); }

void PcDictionary::write_new(encode::ProtoWriter& out) noexcept {
  PageBuffer function;
  if (written_functions_ < name_of_.size()) out.unsigned_field(6, written_functions_ + 1);
  for (; written_functions_ < name_of_.size(); ++written_functions_) {
    const FunctionKey& key = functions_.at(written_functions_ + 1);
    function.clear();
    encode::ProtoWriter fields(function);
    fields.fixed64_field(1, key.code_object);
    fields.unsigned_field(2, key.index);
    const std::uint32_t name = name_of_[written_functions_];
    if (name != 0) fields.text_field(3, names_.at(name));
    out.element(7, function.bytes());
  }
  if (written_reasons_ < reasons_.size()) out.unsigned_field(8, written_reasons_ + 1);
  for (; written_reasons_ < reasons_.size(); ++written_reasons_) out.element(9, reasons_.at(written_reasons_ + 1));
}

void PcDictionary::forget_written() noexcept {
  written_functions_ = 0;
  written_reasons_ = 0;
}

}  // namespace lanescope::agent::kernels
