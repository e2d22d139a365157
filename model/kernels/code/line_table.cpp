#include "line_table.h"

#include <algorithm>
#include <map>

namespace lanescope::kernels {
namespace {

constexpr std::size_t kRelocationBytes = 24;
constexpr std::size_t kBareRelocationBytes = 16;  // without an addend
constexpr std::uint8_t kInlinedCall = 0x90;
constexpr std::size_t kMostFiles = 65'536;         // in a unit; the same limit for folders
constexpr std::size_t kLongestPath = 4'096;        // bytes, for a folder and for a file in it
constexpr std::size_t kMostPathBytes = 64u << 20;  // for the lists of all units
constexpr std::size_t kMostRows = 4'000'000;       // for all units: enough for 64 MB of code

// Reads consecutive bytes. Behind the end everything is 0, and good() is false.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::size_t begin, std::size_t end) : bytes_(bytes.substr(0, std::min(end, bytes.size()))), at_(begin) {}

  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] bool at_end() const noexcept { return !good_ || at_ >= bytes_.size(); }
  [[nodiscard]] std::size_t place() const noexcept { return at_; }
  void skip(std::uint64_t count) noexcept { has(count) ? void(at_ += static_cast<std::size_t>(count)) : void(); }
  void go_to(std::size_t place) noexcept { at_ = place; }

  template <typename Number>
  Number number() noexcept {
    if (!has(sizeof(Number))) return 0;
    at_ += sizeof(Number);
    return number_at<Number>(bytes_, at_ - sizeof(Number));
  }
  std::uint64_t unsigned_number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; has(1); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  std::int64_t signed_number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; has(1);) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      break;
    }
    return static_cast<std::int64_t>(value);
  }
  std::string_view text() noexcept {
    const std::size_t end = good_ && at_ <= bytes_.size() ? bytes_.find('\0', at_) : std::string_view::npos;
    if (end == std::string_view::npos) {
      good_ = false;
      return {};
    }
    const std::string_view found = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }

 private:
  bool has(std::uint64_t count) noexcept {
    good_ = good_ && at_ <= bytes_.size() && count <= bytes_.size() - at_;
    return good_;
  }

  std::string_view bytes_;
  std::size_t at_;
  bool good_ = true;
};

// The base of an address in the table: a place in a section of code.
struct Target {
  std::uint32_t section = 0;
  std::uint64_t address = 0;
};

// By the position of the address in .debug_line.
std::map<std::uint64_t, Target> relocations(const std::vector<ElfSection>& sections, const std::vector<ElfSymbol>& symbols) {
  std::map<std::uint64_t, Target> targets;
  for (const auto& [name, bytes] : {std::pair(".rela.debug_line", kRelocationBytes), std::pair(".rel.debug_line", kBareRelocationBytes)}) {
    const ElfSection* const section = find_section(sections, name);
    if (section == nullptr) continue;
    for (std::size_t at = 0; at + bytes <= section->bytes.size(); at += bytes) {
      const auto symbol = number_at<std::uint64_t>(section->bytes, at + 8) >> 32;
      if (symbol >= symbols.size()) continue;
      const std::uint64_t addend = bytes == kRelocationBytes ? number_at<std::uint64_t>(section->bytes, at + 16) : 0;
      targets[number_at<std::uint64_t>(section->bytes, at)] = {symbols[symbol].section, symbols[symbol].value + addend};
    }
  }
  return targets;
}

// The data read so far, from all units.
struct Reading : LineTable {
  std::map<std::string, std::uint32_t> file_ids;
  std::size_t path_bytes = 0;
  std::size_t row_count = 0;
};

struct Header {
  std::uint8_t instruction_bytes = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t first_special = 1;
  std::vector<std::uint8_t> operands;  // number of operands of standard opcodes, from 1
  std::vector<std::uint32_t> files;    // indexes into LineTable::files, by the unit's numbers from 1
};

class UnitReader {
 public:
  UnitReader(ByteReader reader, const std::map<std::uint64_t, Target>& targets, Reading& table) : reader_(reader), targets_(targets), table_(table) {}

  void read() {
    if (!read_header()) return;
    start_sequence();
    while (!reader_.at_end() && table_.row_count < kMostRows) step();
    end_sequence();
  }

 private:
  bool read_header() {
    const auto version = reader_.number<std::uint16_t>();
    if (version < 2 || version > 4) return false;
    const auto header_bytes = reader_.number<std::uint32_t>();
    const std::size_t program = reader_.place() + header_bytes;
    header_.instruction_bytes = reader_.number<std::uint8_t>();
    if (version == 4) reader_.skip(1);
    reader_.skip(1);
    header_.line_base = static_cast<std::int8_t>(reader_.number<std::uint8_t>());
    header_.line_range = reader_.number<std::uint8_t>();
    header_.first_special = reader_.number<std::uint8_t>();
    for (unsigned opcode = 1; opcode < header_.first_special; ++opcode) header_.operands.push_back(reader_.number<std::uint8_t>());
    std::vector<std::string_view> folders{""};
    for (std::string_view folder = reader_.text(); !folder.empty(); folder = reader_.text())
      if (folders.size() < kMostFiles) folders.push_back(folder);
    for (std::string_view file = reader_.text(); !file.empty() && reader_.good(); file = reader_.text()) {
      const std::uint64_t folder = reader_.unsigned_number();
      reader_.unsigned_number();  // time of last modification
      const std::uint64_t bytes = reader_.unsigned_number();
      add_file(folder < folders.size() ? folders[static_cast<std::size_t>(folder)] : std::string_view(), file, bytes);
    }
    if (!reader_.good() || header_.line_range == 0 || header_.first_special == 0 || program < reader_.place()) return false;
    reader_.go_to(program);
    return true;
  }

  void add_file(std::string_view folder, std::string_view file, std::uint64_t bytes) {
    if (header_.files.size() == kMostFiles || table_.path_bytes > kMostPathBytes) return;
    file = file.substr(0, kLongestPath);
    std::string path = file.starts_with('/') || folder.empty() ? std::string(file) : std::string(folder.substr(0, kLongestPath)) + "/" + std::string(file);
    table_.path_bytes += path.size();
    const auto [known, is_new] = table_.file_ids.try_emplace(path, static_cast<std::uint32_t>(table_.files.size()));
    if (is_new) {
      table_.files.push_back(std::move(path));
      table_.file_bytes.push_back(bytes);
    }
    header_.files.push_back(known->second);
  }

  void start_sequence() {
    row_ = {};
    row_.line = 1;
    file_ = 1;
    sequence_ = {};
  }
  void end_sequence() {
    sequence_.end = row_.address;
    if (!sequence_.rows.empty()) table_.sequences.push_back(std::move(sequence_));
    start_sequence();
  }

  void emit() {
    row_.file = file_ >= 1 && file_ <= header_.files.size() ? header_.files[file_ - 1] : kNoFile;
    sequence_.rows.push_back(row_);
    ++table_.row_count;
  }

  void advance(std::uint64_t instructions) { row_.address += instructions * header_.instruction_bytes; }
  void advance_line(std::int64_t lines) { row_.line = row_.line + static_cast<std::uint32_t>(lines); }

  void step() {
    const auto opcode = reader_.number<std::uint8_t>();
    if (opcode >= header_.first_special) {
      const unsigned adjusted = opcode - header_.first_special;
      advance(adjusted / header_.line_range);
      advance_line(header_.line_base + static_cast<int>(adjusted % header_.line_range));
      return emit();
    }
    switch (opcode) {
      case 0:
        return extended();
      case 1:
        return emit();
      case 2:
        return advance(reader_.unsigned_number());
      case 3:
        return advance_line(reader_.signed_number());
      case 4:
        file_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(reader_.unsigned_number(), kMostFiles));
        return;
      case 8:
        return advance((255u - header_.first_special) / header_.line_range);
      case 9:
        row_.address += reader_.number<std::uint16_t>();
        return;
      default:
        for (unsigned i = 0; i < header_.operands[opcode - 1u]; ++i) reader_.unsigned_number();
    }
  }

  void extended() {
    const std::uint64_t bytes = reader_.unsigned_number();
    const std::size_t begin = reader_.place();
    if (bytes == 0 || !reader_.good()) return;
    switch (reader_.number<std::uint8_t>()) {
      case 1:
        end_sequence();
        break;
      case 2: {
        const std::size_t place = reader_.place();
        const auto address = reader_.number<std::uint64_t>();
        const auto target = targets_.find(place);
        row_.address = address + (target == targets_.end() ? 0 : target->second.address);
        sequence_.section = target == targets_.end() ? 0 : target->second.section;
        break;
      }
      case kInlinedCall: {
        // Rows are counted from 1 within the sequence. An inlined row comes after the row that it was inlined into.
        const std::uint64_t caller = reader_.unsigned_number();
        const std::uint64_t function = reader_.unsigned_number();
        row_.caller = caller <= sequence_.rows.size() ? static_cast<std::uint32_t>(caller) : 0;
        row_.function = static_cast<std::uint32_t>(std::min<std::uint64_t>(function, 0xffff'ffffu));
        break;
      }
      default:
        break;
    }
    reader_.go_to(begin);
    reader_.skip(bytes);
  }

  ByteReader reader_;
  const std::map<std::uint64_t, Target>& targets_;
  Reading& table_;
  Header header_;
  LineRow row_;
  std::uint32_t file_ = 1;
  LineSequence sequence_;
};

}  // namespace

LineTable read_line_table(const std::vector<ElfSection>& sections, const std::vector<ElfSymbol>& symbols) {
  Reading table;
  const ElfSection* const section = find_section(sections, ".debug_line");
  if (section == nullptr) return {};
  const std::map<std::uint64_t, Target> targets = relocations(sections, symbols);
  for (std::size_t at = 0; at + 4 < section->bytes.size();) {
    const auto bytes = number_at<std::uint32_t>(section->bytes, at);
    at += 4;
    UnitReader(ByteReader(section->bytes, at, at + std::size_t{bytes}), targets, table).read();
    at += std::size_t{bytes};
  }
  return {std::move(table.files), std::move(table.file_bytes), std::move(table.sequences)};
}

}  // namespace lanescope::kernels
