#include "model/export/arrow_table_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "../tables/event_tables.h"
#include "../tables/record_tables.h"
#include "../tables/trace_tables.h"
#include "batch_columns.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/workers/home_process.h"

namespace lanescope {
namespace {

using exporters::BatchColumn;
using exporters::Cell;
using exporters::ColumnSchema;
using exporters::ColumnType;
using exporters::Nullable;
using exporters::TableDescription;
using exporters::TableRows;
using exporters::TableTarget;

constexpr std::size_t kMostBatches = 2;  // waiting to be read

// ---- Memory that ArrowArray and ArrowSchema point to; it is kept until they are released ---------------------------------------------------

template <typename Value>
std::vector<std::byte> bytes_of(const std::vector<Value>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// One bit for each value, the lowest bit first.
template <typename Value>
std::vector<std::byte> bits_of(const std::vector<Value>& values) {
  std::vector<std::byte> bits((values.size() + 7) / 8);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) bits[i / 8] |= static_cast<std::byte>(1 << i % 8);
  return bits;
}

struct OwnedArray {
  std::vector<std::vector<std::byte>> buffers;  // an empty first buffer: no nulls
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::unique_ptr<ArrowArray> dictionary;
  std::vector<const void*> buffer_places;
  std::vector<ArrowArray*> child_places;
};

template <typename Released>
void release_if_held(Released& released) {
  if (released.release != nullptr) released.release(&released);
}

void release_array(ArrowArray* array) {
  auto* const owned = static_cast<OwnedArray*>(array->private_data);
  for (auto& child : owned->children) release_if_held(*child);
  if (owned->dictionary) release_if_held(*owned->dictionary);
  delete owned;
  array->release = nullptr;
}

ArrowArray array_of(std::size_t length, std::int64_t nulls, std::unique_ptr<OwnedArray> owned) {
  static constexpr std::byte kNothing{};  // used for buffers without bytes
  for (const auto& buffer : owned->buffers) owned->buffer_places.push_back(buffer.empty() ? &kNothing : buffer.data());
  const bool has_validity = !owned->buffers.empty();
  if (has_validity && nulls == 0) owned->buffer_places.front() = nullptr;
  for (const auto& child : owned->children) owned->child_places.push_back(child.get());
  ArrowArray array{};
  array.length = static_cast<std::int64_t>(length);
  array.null_count = nulls;
  array.n_buffers = static_cast<std::int64_t>(owned->buffers.size());
  array.n_children = static_cast<std::int64_t>(owned->children.size());
  array.buffers = owned->buffer_places.data();
  array.children = owned->child_places.data();
  array.dictionary = owned->dictionary.get();
  array.release = release_array;
  array.private_data = owned.release();
  return array;
}

struct OwnedSchema {
  std::string format, name, metadata;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::unique_ptr<ArrowSchema> dictionary;
  std::vector<ArrowSchema*> child_places;
};

void release_schema(ArrowSchema* schema) {
  auto* const owned = static_cast<OwnedSchema*>(schema->private_data);
  for (auto& child : owned->children) release_if_held(*child);
  if (owned->dictionary) release_if_held(*owned->dictionary);
  delete owned;
  schema->release = nullptr;
}

ArrowSchema schema_of(std::unique_ptr<OwnedSchema> owned, std::int64_t flags) {
  for (const auto& child : owned->children) owned->child_places.push_back(child.get());
  ArrowSchema schema{};
  schema.format = owned->format.c_str();
  schema.name = owned->name.c_str();
  schema.metadata = owned->metadata.empty() ? nullptr : owned->metadata.data();
  schema.flags = flags;
  schema.n_children = static_cast<std::int64_t>(owned->children.size());
  schema.children = owned->child_places.data();
  schema.dictionary = owned->dictionary.get();
  schema.release = release_schema;
  schema.private_data = owned.release();
  return schema;
}

const char* format_of(ColumnType type) {
  switch (type) {
    case ColumnType::kInt64:
      return "l";
    case ColumnType::kUint64:
      return "L";
    case ColumnType::kDouble:
      return "g";
    case ColumnType::kBool:
      return "b";
    case ColumnType::kText:
      return "i";  // the type of dictionary indices
  }
  return "l";
}

ArrowSchema schema_of(const ColumnSchema& column) {
  auto owned = std::make_unique<OwnedSchema>();
  owned->format = format_of(column.type);
  owned->name = column.name;
  if (column.type == ColumnType::kText) {
    auto texts = std::make_unique<OwnedSchema>();
    texts->format = "u";
    owned->dictionary = std::make_unique<ArrowSchema>(schema_of(std::move(texts), 0));
  }
  return schema_of(std::move(owned), column.nullable == Nullable::kYes ? ARROW_FLAG_NULLABLE : 0);
}

// Pairs of length and text, in the machine's byte order.
std::string encoded(const exporters::Metadata& metadata) {
  std::string text;
  const auto add_number = [&text](std::size_t number) {
    const auto value = static_cast<std::int32_t>(number);
    text.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const auto add_text = [&](const std::string& part) {
    add_number(part.size());
    text += part;
  };
  add_number(metadata.size());
  for (const auto& [key, value] : metadata) {
    add_text(key);
    add_text(value);
  }
  return text;
}

ArrowSchema schema_of(const TableDescription& table) {
  auto owned = std::make_unique<OwnedSchema>();
  owned->format = "+s";
  owned->metadata = encoded(table.metadata);
  for (const ColumnSchema& column : table.columns) owned->children.push_back(std::make_unique<ArrowSchema>(schema_of(column)));
  return schema_of(std::move(owned), 0);
}

// ---- The thread that makes batches, and the reader ----------------------------------------------------------------------------------------

// An array that is released unless it is taken.
class HeldArray {
 public:
  explicit HeldArray(ArrowArray array) : array_(array) {}
  HeldArray(HeldArray&& other) noexcept : array_(other.take()) {}
  HeldArray& operator=(HeldArray&&) = delete;
  ~HeldArray() { release_if_held(array_); }
  ArrowArray take() noexcept {
    const ArrowArray taken = array_;
    array_.release = nullptr;
    return taken;
  }

 private:
  ArrowArray array_;
};

class TableStream final : private TableTarget, private TableRows {
 public:
  TableStream(std::shared_ptr<const Trace> trace, std::string table) : trace_(std::move(trace)), table_(std::move(table)) {
    thread_ = std::thread([this] { make(); });
  }
  ~TableStream() override {
    {
      const std::lock_guard lock(mutex_);
      is_given_up_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Returns 0 or an errno.h number.
  int schema(ArrowSchema& out) {
    if (!home_.is_here()) return refused();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_described_ || is_over_; });
    if (!is_described_) return failed();
    out = schema_of(description_);
    return 0;
  }
  int next(ArrowArray& out) {
    if (!home_.is_here()) return refused();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !batches_.empty() || is_over_; });
    if (batches_.empty() && failure_) return failed();
    if (batches_.empty()) {
      out = {};  // the end
      return 0;
    }
    out = batches_.front().take();
    batches_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return 0;
  }
  [[nodiscard]] bool is_of_this_process() const noexcept { return home_.is_here(); }
  [[nodiscard]] const char* last_error() const noexcept { return has_failed_ ? said_.c_str() : nullptr; }

 private:
  int failed() {
    has_failed_ = true;
    said_ = failure_ ? failure_->text : "The table " + table_ + " could not be read.";
    return EIO;
  }

  // In a forked child there is no thread that makes batches.
  int refused() {
    has_failed_ = true;
    said_ = "The table " + table_ + " is read in the process that asked for it. This one was forked from it.";
    return EPERM;
  }

  void make() {
    std::optional<Error> failure;
    try {
      TableOptions options;
      options.tables = {table_};
      options.empty_tables = EmptyTables::kCreate;
      if (const Result<void> written = exporters::write_tables(*trace_, options, *this); !written) failure = written.error();
      if (has_substitutes(*trace_))
        failure = Error{"Not all events of the table " + table_ + " can be read any more: the file was changed, cut or damaged, or memory lacks."};
    } catch (const std::exception&) {  // from the standard library
      failure = Error{"There is not enough memory for the table " + table_ + "."};
    }
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    failure_ = std::move(failure);
    changed_.notify_all();
  }

  Result<void> write(TableDescription table, const std::function<Result<void>(TableRows& rows)>& fill) override {
    columns_.assign(table.columns.size(), {});
    rows_a_batch_ = std::min(table.rows_a_group, exporters::kMostBatchRows);
    {
      const std::lock_guard lock(mutex_);
      description_ = std::move(table);
      is_described_ = true;
    }
    changed_.notify_all();
    if (Result<void> filled = fill(*this); !filled) return filled;
    flush();
    if (is_too_long_) return Error{"The texts of " + std::to_string(rows_a_batch_) + " rows of the table " + table_ + " take more than 2 GiB."};
    return {};
  }
  void leave_out(std::string_view) override {}

  void append(std::span<const Cell> row) override {
    if (ends_) return;
    append_row(row, columns_);
    ++rows_;
    if (++batch_rows_ == rows_a_batch_) flush();
  }
  [[nodiscard]] std::uint64_t rows() const noexcept override { return rows_; }

  void flush() {
    if (batch_rows_ == 0 || ends_) return;
    auto owned = std::make_unique<OwnedArray>();
    owned->buffers.emplace_back();  // a struct has only a validity buffer
    for (std::size_t i = 0; i < columns_.size() && !ends_; ++i) owned->children.push_back(std::make_unique<ArrowArray>(array(i)));
    HeldArray batch(array_of(batch_rows_, 0, std::move(owned)));
    for (BatchColumn& column : columns_) column = {};
    batch_rows_ = 0;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return batches_.size() < kMostBatches || is_given_up_; });
    ends_ |= is_given_up_;
    if (ends_) return;
    batches_.push_back(std::move(batch));
    lock.unlock();
    changed_.notify_all();
  }

  ArrowArray array(std::size_t index) {
    const BatchColumn& column = columns_[index];
    const auto nulls = static_cast<std::int64_t>(column.nulls());
    auto owned = std::make_unique<OwnedArray>();
    owned->buffers.push_back(nulls == 0 ? std::vector<std::byte>() : bits_of(column.is_present));
    const ColumnType type = description_.columns[index].type;
    if (type == ColumnType::kText)
      add_texts(index, *owned);
    else
      owned->buffers.push_back(type == ColumnType::kBool ? bits_of(column.values) : bytes_of(column.values));
    return array_of(batch_rows_, nulls, std::move(owned));
  }

  // If the texts are too long, the batch is not delivered.
  void add_texts(std::size_t index, OwnedArray& into) {
    const std::optional<exporters::BatchTexts> texts = texts_of(columns_[index], description_, index);
    if (!texts) {
      is_too_long_ = ends_ = true;
      return;
    }
    into.buffers.push_back(bytes_of(texts->indices));
    auto owned = std::make_unique<OwnedArray>();
    owned->buffers.emplace_back();
    owned->buffers.push_back(bytes_of(texts->offsets));
    owned->buffers.push_back(bytes_of(std::vector<char>(texts->texts.begin(), texts->texts.end())));
    into.dictionary = std::make_unique<ArrowArray>(array_of(texts->offsets.size() - 1, 0, std::move(owned)));
  }

  const std::shared_ptr<const Trace> trace_;
  const std::string table_;

  // Used by the thread only.
  std::vector<BatchColumn> columns_;
  std::size_t rows_a_batch_ = 0;
  std::size_t batch_rows_ = 0;
  std::uint64_t rows_ = 0;
  bool is_too_long_ = false;
  bool ends_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  TableDescription description_;  // constant once it is set
  bool is_described_ = false;
  bool is_over_ = false;      // no more batches are made
  bool is_given_up_ = false;  // the reader has gone
  std::optional<Error> failure_;
  std::deque<HeldArray> batches_;

  // Used by the reader only.
  bool has_failed_ = false;
  std::string said_;

  const HomeProcess home_;
  std::thread thread_;  // last, because it uses all members above
};

TableStream& of(ArrowArrayStream* stream) { return *static_cast<TableStream*>(stream->private_data); }

}  // namespace

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const exporters::EventTable& table : exporters::event_tables()) names.emplace_back(table.name);
  names.emplace_back(exporters::counter_table().name);
  exporters::for_each_record_table([&](const auto& table) { names.emplace_back(table.name); });
  return names;
}

Result<void> open_arrow_stream(std::shared_ptr<const Trace> trace, std::string_view table, ArrowArrayStream& stream) {
  const std::vector<std::string> known = table_names();
  if (std::find(known.begin(), known.end(), table) == known.end()) {
    std::string list;
    for (const std::string& name : known) list.append(list.empty() ? "" : ", ").append(name);
    return Error{"There is no table " + std::string(table) + ". Tables: " + list + ".", ErrorKind::kUsage};
  }
  stream = {};
  stream.private_data = new TableStream(std::move(trace), std::string(table));
  stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) { return of(self).schema(*out); };
  stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) { return of(self).next(*out); };
  stream.get_last_error = [](ArrowArrayStream* self) { return of(self).last_error(); };
  stream.release = [](ArrowArrayStream* self) {
    std::unique_ptr<TableStream> stream(&of(self));
    if (!stream->is_of_this_process()) HomeProcess::leave(std::move(stream));
    *self = {};
  };
  return {};
}

}  // namespace lanescope
