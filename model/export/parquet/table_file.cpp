#include "table_file.h"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "column_encoding.h"
#include "thrift_writer.h"

namespace lanescope::exporters {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr int kZstdCodec = 6;
constexpr int kZstdLevel = 3;
// Above this number of entries, differences take less space than a dictionary with indices.
constexpr std::size_t kLargestNumberDictionary = 1u << 15;
// If each number occurs at least this often on average, a dictionary takes the least space. Otherwise both ways are tried.
constexpr std::size_t kLeastUses = 16;

// Constants of parquet.thrift.
enum Encoding : int { kPlain = 0, kRle = 3, kDeltaBinaryPacked = 5, kRleDictionary = 8 };
enum PhysicalType : int { kBoolean = 0, kInt64Type = 2, kDoubleType = 5, kByteArray = 6 };

PhysicalType physical_type(ColumnType type) {
  switch (type) {
    case ColumnType::kInt64:
    case ColumnType::kUint64:
      return kInt64Type;
    case ColumnType::kDouble:
      return kDoubleType;
    case ColumnType::kBool:
      return kBoolean;
    case ColumnType::kText:
      return kByteArray;
  }
  return kInt64Type;
}

std::string plain(std::int64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

void append_plain_text(std::string& bytes, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

bool precedes(ColumnType type, std::int64_t a, std::int64_t b) {
  if (type == ColumnType::kUint64) return static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
  return a < b;
}

}  // namespace

TableFile::TableFile(int descriptor, TableDescription table) : descriptor_(descriptor), table_(std::move(table)) {
  for (const ColumnSchema& schema : table_.columns) columns_.push_back({schema, {}, {}});
  write(kMagic);
}

void TableFile::append(std::span<const Cell> row) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    if (row[i]) column.values.push_back(*row[i]);
    if (column.schema.nullable == Nullable::kYes) column.is_present.push_back(row[i] ? 1 : 0);
  }
  ++rows_;
  if (++group_rows_ == table_.rows_a_group) flush_rows();
}

void TableFile::flush_rows() {
  if (group_rows_ == 0) return;
  RowGroup group;
  group.rows = static_cast<std::int64_t>(group_rows_);
  for (std::size_t i = 0; i < columns_.size(); ++i) group.chunks.push_back(write_chunk(i));
  groups_.push_back(std::move(group));
  group_rows_ = 0;
}

TableFile::ChunkPlace TableFile::write_chunk(std::size_t index) {
  Column& column = columns_[index];
  const ColumnType type = column.schema.type;
  ChunkPlace place;
  place.values = static_cast<std::int64_t>(group_rows_);
  place.nulls = static_cast<std::int64_t>(group_rows_ - column.values.size());

  std::string levels;
  if (column.schema.nullable == Nullable::kYes) {
    std::string runs;
    append_runs(runs, column.is_present, 1);
    append_plain_text(levels, runs);  // with a preceding length, like texts
  }
  const EncodedChunk chunk = encoded(index, levels);
  place.encoding = chunk.encoding;
  if (chunk.dictionary) {
    place.dictionary_offset = offset_;
    write(*chunk.dictionary, place);
  }
  place.data_offset = offset_;
  write(chunk.data, place);

  if ((type == ColumnType::kInt64 || type == ColumnType::kUint64) && !column.values.empty()) {
    const auto [least, greatest] =
        std::minmax_element(column.values.begin(), column.values.end(), [&](std::int64_t a, std::int64_t b) { return precedes(type, a, b); });
    place.least = plain(*least);
    place.greatest = plain(*greatest);
  }
  column.values.clear();
  column.is_present.clear();
  return place;
}

TableFile::EncodedChunk TableFile::encoded(std::size_t index, std::string_view levels) {
  const std::vector<std::int64_t>& values = columns_[index].values;
  const ColumnType type = columns_[index].schema.type;
  if (type == ColumnType::kBool) {
    std::string body(levels);
    append_bits(body, values);
    return {kPlain, {}, page(PageKind::kData, group_rows_, kPlain, body)};
  }
  const auto dictionary = dictionary_of(values, type == ColumnType::kText ? table_.rows_a_group : kLargestNumberDictionary);
  if (dictionary && (type == ColumnType::kText || type == ColumnType::kDouble || dictionary->values.size() <= values.size() / kLeastUses))
    return in_dictionary(index, levels, *dictionary);
  if (type == ColumnType::kDouble) {
    std::string body(levels);
    body.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t));
    return {kPlain, {}, page(PageKind::kData, group_rows_, kPlain, body)};
  }
  std::optional<EncodedChunk> best;
  if (dictionary) best = in_dictionary(index, levels, *dictionary);
  for (const DeltaWidth width : {DeltaWidth::kFewestBits, DeltaWidth::kWholeBytes}) {
    std::string body(levels);
    append_deltas(body, values, width);
    EncodedChunk differences{kDeltaBinaryPacked, {}, page(PageKind::kData, group_rows_, kDeltaBinaryPacked, body)};
    if (!best || differences.size() < best->size()) best = std::move(differences);
  }
  return *std::move(best);
}

TableFile::EncodedChunk TableFile::in_dictionary(std::size_t index, std::string_view levels, const ValueDictionary& found) {
  const ColumnType type = columns_[index].schema.type;
  const ValueDictionary dictionary = type == ColumnType::kText ? found : ascending(found);
  std::string entries, body(levels);
  for (const std::int64_t value : dictionary.values)
    type == ColumnType::kText ? append_plain_text(entries, table_.text_of(index, value)) : static_cast<void>(entries.append(plain(value)));
  const int width = bit_width(dictionary.values.empty() ? 0 : dictionary.values.size() - 1);
  body.push_back(static_cast<char>(width));
  append_runs(body, dictionary.indices, width);
  return {kRleDictionary, page(PageKind::kDictionary, dictionary.values.size(), kPlain, entries), page(PageKind::kData, group_rows_, kRleDictionary, body)};
}

TableFile::Page TableFile::page(PageKind kind, std::size_t values, int encoding, std::string_view body) {
  compressed_.resize(ZSTD_compressBound(body.size()));
  const std::size_t size = ZSTD_compress(compressed_.data(), compressed_.size(), body.data(), body.size(), kZstdLevel);
  if (ZSTD_isError(size) || body.size() > INT32_MAX) {
    if (error_ == 0) error_ = EFBIG;
    return {};
  }
  ThriftWriter header;
  header.integer32(1, static_cast<int>(kind)).integer32(2, static_cast<std::int32_t>(body.size())).integer32(3, static_cast<std::int32_t>(size));
  if (kind == PageKind::kData)
    header.open_struct(5).integer32(1, static_cast<std::int32_t>(values)).integer32(2, encoding).integer32(3, kRle).integer32(4, kRle).close_struct();
  else
    header.open_struct(7).integer32(1, static_cast<std::int32_t>(values)).integer32(2, encoding).close_struct();
  const std::string head = header.finish();
  return {head + compressed_.substr(0, size), static_cast<std::int64_t>(head.size() + body.size())};
}

void TableFile::write(const Page& page, ChunkPlace& place) {
  place.uncompressed_bytes += page.uncompressed_bytes;
  place.compressed_bytes += static_cast<std::int64_t>(page.bytes.size());
  write(page.bytes);
}

void TableFile::write(std::string_view bytes) {
  offset_ += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty() && error_ == 0) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      error_ = errno;
  }
}

std::string TableFile::footer() const {
  using Element = ThriftWriter::Element;
  ThriftWriter out;
  out.integer32(1, 2).open_list(2, Element::kStruct, columns_.size() + 1);
  out.open_element().text(4, "schema").integer32(5, static_cast<std::int32_t>(columns_.size())).close_struct();
  for (const Column& column : columns_) {
    const ColumnType type = column.schema.type;
    out.open_element().integer32(1, physical_type(type)).integer32(3, column.schema.nullable == Nullable::kYes ? 1 : 0).text(4, column.schema.name);
    if (type == ColumnType::kText) out.integer32(6, 0).open_struct(10).open_struct(1).close_struct().close_struct();
    if (type == ColumnType::kUint64) out.integer32(6, 14).open_struct(10).open_struct(10).byte(1, 64).boolean(2, false).close_struct().close_struct();
    out.close_struct();
  }
  out.integer64(3, static_cast<std::int64_t>(rows_)).open_list(4, Element::kStruct, groups_.size());
  for (const RowGroup& group : groups_) {
    out.open_element().open_list(1, Element::kStruct, columns_.size());
    std::int64_t uncompressed = 0, compressed = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const ChunkPlace& place = group.chunks[i];
      uncompressed += place.uncompressed_bytes;
      compressed += place.compressed_bytes;
      const bool has_dictionary = place.dictionary_offset >= 0;
      out.open_element().integer64(2, 0).open_struct(3).integer32(1, physical_type(columns_[i].schema.type));
      out.open_list(2, Element::kInt32, has_dictionary ? 3 : 2).element(kRle).element(place.encoding);
      if (has_dictionary) out.element(kPlain);
      out.open_list(3, Element::kText, 1).element(columns_[i].schema.name).integer32(4, kZstdCodec).integer64(5, place.values);
      out.integer64(6, place.uncompressed_bytes).integer64(7, place.compressed_bytes).integer64(9, place.data_offset);
      if (has_dictionary) out.integer64(11, place.dictionary_offset);
      out.open_struct(12).integer64(3, place.nulls);
      if (!place.least.empty()) out.text(5, place.greatest).text(6, place.least);
      out.close_struct().close_struct().close_struct();
    }
    out.integer64(2, uncompressed).integer64(3, group.rows);
    if (table_.sorted_by) {
      out.open_list(4, Element::kStruct, 1).open_element().integer32(1, static_cast<std::int32_t>(*table_.sorted_by));
      out.boolean(2, false).boolean(3, false).close_struct();
    }
    out.integer64(6, compressed).close_struct();
  }
  out.open_list(5, Element::kStruct, table_.metadata.size());
  for (const auto& [key, value] : table_.metadata) out.open_element().text(1, key).text(2, value).close_struct();
  out.text(6, "lanescope version " LANESCOPE_VERSION).open_list(7, Element::kStruct, columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) out.open_element().open_struct(1).close_struct().close_struct();
  return out.finish();
}

Result<void> TableFile::finish() {
  flush_rows();
  const std::string foot = footer();
  const auto size = static_cast<std::uint32_t>(foot.size());
  write(foot);
  write({reinterpret_cast<const char*>(&size), sizeof size});
  write(kMagic);
  if (error_ != 0) return Error{std::strerror(error_)};
  return {};
}

}  // namespace lanescope::exporters
