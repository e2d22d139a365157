#include "arrow_stream.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "batch_columns.h"
#include "flat_table.h"

namespace lanescope::exporters {
namespace {

static_assert(std::endian::native == std::endian::little);

// Constants of Schema.fbs and Message.fbs.
constexpr std::int16_t kVersion5 = 4;
enum class Header : std::uint8_t { kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };
enum class Type : std::uint8_t { kInt = 2, kFloatingPoint = 3, kUtf8 = 5, kBool = 6 };
enum MessagePlace : int { kVersion = 0, kHeaderType = 1, kHeader = 2, kBodyLength = 3 };
enum SchemaPlace : int { kFields = 1, kSchemaMetadata = 2, kFeatures = 3 };
enum FieldPlace : int { kName = 0, kNullable = 1, kTypeType = 2, kType = 3, kDictionary = 4, kChildren = 5 };
enum EncodingPlace : int { kDictionaryId = 0, kIndexType = 1 };
enum BatchPlace : int { kLength = 0, kNodes = 1, kBuffers = 2 };
enum DictionaryBatchPlace : int { kBatchId = 0, kBatchData = 1 };
constexpr std::int16_t kDoublePrecision = 2;
constexpr std::int64_t kDictionariesAreReplaced = 1;  // a feature

FlatTable integer_type(int bits, bool is_signed) {
  FlatTable type;
  type.integer32(0, bits).byte(1, is_signed ? 1 : 0);
  return type;
}

FlatTable field_of(const ColumnSchema& column, std::int64_t dictionary) {
  FlatTable field;
  field.text(kName, column.name).byte(kNullable, column.nullable == Nullable::kYes ? 1 : 0).tables(kChildren, {});
  const auto typed = [&](Type type, FlatTable details) { field.byte(kTypeType, static_cast<std::uint8_t>(type)).table(kType, std::move(details)); };
  switch (column.type) {
    case ColumnType::kInt64:
      typed(Type::kInt, integer_type(64, true));
      break;
    case ColumnType::kUint64:
      typed(Type::kInt, integer_type(64, false));
      break;
    case ColumnType::kDouble:
      typed(Type::kFloatingPoint, FlatTable().integer16(0, kDoublePrecision));
      break;
    case ColumnType::kBool:
      typed(Type::kBool, {});
      break;
    case ColumnType::kText:
      typed(Type::kUtf8, {});
      field.table(kDictionary, FlatTable().integer64(kDictionaryId, dictionary).table(kIndexType, integer_type(32, true)));
      break;
  }
  return field;
}

// Arrays of a batch: their lengths, and their bytes one after another.
class Body {
 public:
  void add_array(std::size_t length, std::size_t nulls) {
    nodes_.push_back(static_cast<std::int64_t>(length));
    nodes_.push_back(static_cast<std::int64_t>(nulls));
  }
  void add_buffer(std::string_view bytes) {
    buffers_.push_back(static_cast<std::int64_t>(bytes_.size()));
    buffers_.push_back(static_cast<std::int64_t>(bytes.size()));
    bytes_.append(bytes).append((8 - bytes.size() % 8) % 8, '\0');
  }
  template <typename Value>
  void add_values(const std::vector<Value>& values) {
    add_buffer({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
  }
  // One bit for each value, the lowest bit first.
  template <typename Value>
  void add_bits(const std::vector<Value>& values) {
    std::string bits((values.size() + 7) / 8, '\0');
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << i % 8);
    add_buffer(bits);
  }
  [[nodiscard]] FlatTable batch(std::size_t rows) const {
    FlatTable batch;
    batch.integer64(kLength, static_cast<std::int64_t>(rows)).integers64(kNodes, nodes_, 2).integers64(kBuffers, buffers_, 2);
    return batch;
  }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::vector<std::int64_t> nodes_, buffers_;
  std::string bytes_;
};

class Stream : public TableRows {
 public:
  Stream(TableDescription table, const TextConsumer& write) : table_(std::move(table)), write_(write), columns_(table_.columns.size()) {
    rows_a_batch_ = std::min(table_.rows_a_group, kMostBatchRows);
    begin();
  }

  void append(std::span<const Cell> row) override {
    if (failed_) return;
    append_row(row, columns_);
    ++rows_;
    if (++batch_rows_ == rows_a_batch_) flush();
  }
  [[nodiscard]] std::uint64_t rows() const noexcept override { return rows_; }

  Result<void> finish() {
    flush();
    put(std::string("\xff\xff\xff\xff\0\0\0\0", 8));
    if (is_too_long_)
      return Error{"The texts of " + std::to_string(rows_a_batch_) + " rows of the table " + std::string(table_.name) + " take more than 2 GiB."};
    if (failed_) return Error{"The stream could not be written: nobody takes more of it."};
    return {};
  }

 private:
  void begin() {
    std::vector<FlatTable> fields, metadata;
    for (std::size_t i = 0; i < columns_.size(); ++i) fields.push_back(field_of(table_.columns[i], static_cast<std::int64_t>(i)));
    for (const auto& [key, value] : table_.metadata) metadata.push_back(FlatTable().text(0, key).text(1, value));
    FlatTable schema;
    schema.tables(kFields, std::move(fields)).tables(kSchemaMetadata, std::move(metadata)).integers64(kFeatures, {kDictionariesAreReplaced});
    put_message(Header::kSchema, std::move(schema), {});
  }

  void flush() {
    if (batch_rows_ == 0 || failed_) return;
    Body body;
    for (std::size_t i = 0; i < columns_.size(); ++i) add(i, body);
    if (!failed_) put_message(Header::kRecordBatch, body.batch(batch_rows_), body.bytes());
    for (BatchColumn& column : columns_) column = {};
    batch_rows_ = 0;
  }

  void add(std::size_t index, Body& body) {
    const BatchColumn& column = columns_[index];
    const std::size_t nulls = column.nulls();
    body.add_array(batch_rows_, nulls);
    nulls == 0 ? body.add_buffer({}) : body.add_bits(column.is_present);
    if (table_.columns[index].type == ColumnType::kBool) return body.add_bits(column.values);
    if (table_.columns[index].type != ColumnType::kText) return body.add_values(column.values);
    const std::optional<BatchTexts> texts = texts_of(column, table_, index);
    if (!texts) {
      is_too_long_ = failed_ = true;
      return;
    }
    put_dictionary(index, *texts);
    body.add_values(texts->indices);
  }

  void put_dictionary(std::size_t index, const BatchTexts& texts) {
    const std::size_t count = texts.offsets.size() - 1;
    Body body;
    body.add_array(count, 0);
    body.add_buffer({});
    body.add_values(texts.offsets);
    body.add_buffer(texts.texts);
    put_message(Header::kDictionaryBatch, FlatTable().integer64(kBatchId, static_cast<std::int64_t>(index)).table(kBatchData, body.batch(count)), body.bytes());
  }

  void put_message(Header type, FlatTable header, std::string_view body) {
    FlatTable message;
    message.integer16(kVersion, kVersion5).byte(kHeaderType, static_cast<std::uint8_t>(type)).table(kHeader, std::move(header));
    message.integer64(kBodyLength, static_cast<std::int64_t>(body.size()));
    const std::string described = message.bytes();
    const auto size = static_cast<std::uint32_t>(described.size());
    put("\xff\xff\xff\xff");
    put({reinterpret_cast<const char*>(&size), sizeof size});
    put(described);
    put(body);
  }

  void put(std::string_view bytes) { failed_ = failed_ || !write_(bytes); }

  TableDescription table_;
  const TextConsumer& write_;
  std::vector<BatchColumn> columns_;
  std::size_t rows_a_batch_ = 0;
  std::size_t batch_rows_ = 0;
  std::uint64_t rows_ = 0;
  bool failed_ = false;
  bool is_too_long_ = false;
};

}  // namespace

Result<void> ArrowStreams::write(TableDescription table, const std::function<Result<void>(TableRows&)>& fill) {
  Stream rows(std::move(table), write_);
  if (Result<void> filled = fill(rows); !filled) return filled;
  return rows.finish();
}

}  // namespace lanescope::exporters
