#include "ingest/packed.h"

#include <random>
#include <string>

#include "lanescope/trace.pb.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

// Numbers of all lengths that a varint may have, mostly short ones, in runs of equal length as in recordings.
std::vector<std::uint64_t> random_numbers(std::mt19937& random) {
  std::vector<std::uint64_t> numbers(random() % 300);
  unsigned bits = 7;
  for (std::uint64_t& number : numbers) {
    if (random() % 8 == 0) bits = 1 + random() % (random() % 4 == 0 ? 64 : 22);
    number = (std::uint64_t{random()} << 32 | random()) >> (64 - bits);
  }
  return numbers;
}

template <typename Field>
void fill(Field* field, std::mt19937& random) {
  for (const std::uint64_t number : random_numbers(random)) field->Add(static_cast<typename Field::value_type>(number));
}

template <typename Column, typename Field>
void check_same(const Column& column, const Field& field) {
  REQUIRE(column.size() == field.size());
  for (int i = 0; i < field.size(); ++i) REQUIRE(column[i] == field[i]);
}

proto::Kernels random_kernels(std::mt19937& random) {
  proto::Kernels kernels;
  fill(kernels.mutable_start_delta(), random);
  for (auto& delta : *kernels.mutable_start_delta())
    if (random() % 3 == 0) delta = -delta;
  fill(kernels.mutable_duration(), random);
  fill(kernels.mutable_name(), random);
  fill(kernels.mutable_queue(), random);
  fill(kernels.mutable_correlation_delta(), random);
  fill(kernels.mutable_shape(), random);
  fill(kernels.mutable_graph_node_delta(), random);
  fill(kernels.mutable_graph(), random);
  fill(kernels.mutable_unfinished(), random);
  fill(kernels.mutable_kernel_name(), random);
  return kernels;
}

void check_same(const KernelColumns& columns, const proto::Kernels& kernels) {
  check_same(columns.start_delta, kernels.start_delta());
  check_same(columns.duration, kernels.duration());
  check_same(columns.name, kernels.name());
  check_same(columns.queue, kernels.queue());
  check_same(columns.correlation_delta, kernels.correlation_delta());
  check_same(columns.shape, kernels.shape());
  check_same(columns.graph_node_delta, kernels.graph_node_delta());
  check_same(columns.graph, kernels.graph());
  check_same(columns.unfinished, kernels.unfinished());
  check_same(columns.kernel_name, kernels.kernel_name());
}

}  // namespace

TEST_CASE("columns are what protobuf reads from the same bytes") {
  std::mt19937 random(GENERATE(range(1u, 60u)));
  const proto::Kernels kernels = random_kernels(random);
  KernelColumns columns;
  REQUIRE(columns.parse(kernels.SerializeAsString()));
  check_same(columns, kernels);

  proto::ApiCalls calls;
  calls.set_thread(static_cast<std::uint32_t>(random()));
  calls.set_driver(random() % 2 == 0);
  fill(calls.mutable_start_delta(), random);
  fill(calls.mutable_duration(), random);
  fill(calls.mutable_name(), random);
  fill(calls.mutable_correlation_delta(), random);
  fill(calls.mutable_result(), random);
  ApiCallColumns of_calls;
  REQUIRE(of_calls.parse(calls.SerializeAsString()));
  CHECK(of_calls.thread == calls.thread());
  CHECK(of_calls.driver == calls.driver());
  check_same(of_calls.start_delta, calls.start_delta());
  check_same(of_calls.duration, calls.duration());
  check_same(of_calls.name, calls.name());
  check_same(of_calls.correlation_delta, calls.correlation_delta());
  check_same(of_calls.result, calls.result());

  proto::CounterSamples samples;
  fill(samples.mutable_counter(), random);
  fill(samples.mutable_time_delta(), random);
  samples.set_last_duration(random());
  for (int i = 0; i < 3; ++i) {
    fill(samples.add_columns()->mutable_value_delta(), random);
    fill(samples.mutable_columns(i)->mutable_missing(), random);
  }
  CounterSampleColumns of_samples;
  REQUIRE(of_samples.parse(samples.SerializeAsString()));
  check_same(of_samples.counter, samples.counter());
  check_same(of_samples.time_delta, samples.time_delta());
  CHECK(of_samples.last_duration == samples.last_duration());
  REQUIRE(of_samples.columns.size() == 3);
  for (int i = 0; i < 3; ++i) {
    check_same(of_samples.columns[static_cast<std::size_t>(i)].value_delta, samples.columns(i).value_delta());
    check_same(of_samples.columns[static_cast<std::size_t>(i)].missing, samples.columns(i).missing());
  }
}

TEST_CASE("columns that come in parts, one by one or with fields of a newer recorder are read as protobuf reads them") {
  std::mt19937 random(7);
  const proto::Kernels first = random_kernels(random), second = random_kernels(random);
  std::string bytes = first.SerializeAsString();
  bytes += std::string("\xfa\x06\x03xyz", 6);  // field 111, three bytes
  bytes += second.SerializeAsString();
  bytes += std::string("\x10\xac\x02", 3);  // duration 300, not packed
  proto::Kernels kernels;
  REQUIRE(kernels.ParseFromString(bytes));
  KernelColumns columns;
  REQUIRE(columns.parse(bytes));
  check_same(columns, kernels);
}

TEST_CASE("damaged columns are refused, or read as protobuf reads them") {
  std::mt19937 random(GENERATE(range(1u, 400u)));
  std::string bytes = random_kernels(random).SerializeAsString();
  if (random() % 2 == 0) bytes.resize(random() % bytes.size());
  for (unsigned i = 0; i < random() % 4 && !bytes.empty(); ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
  KernelColumns columns;
  if (!columns.parse(bytes)) return;
  proto::Kernels kernels;
  REQUIRE(kernels.ParseFromString(bytes));
  check_same(columns, kernels);
}

TEST_CASE("parts of a packed column begin where their first numbers do") {
  std::mt19937 random(GENERATE(range(1u, 20u)));
  std::string packed;
  std::vector<std::size_t> begins;
  const std::size_t count = 1 + random() % 9'000, step = 8 + random() % 2'000;
  for (std::vector<std::uint64_t> numbers; begins.size() < count;) {
    if (numbers.empty()) numbers = random_numbers(random);
    if (numbers.empty()) continue;
    begins.push_back(packed.size());
    append_varint(numbers.back(), packed);
    numbers.pop_back();
  }
  const auto offsets = offsets_of_every(step, packed, count);
  REQUIRE(offsets);
  REQUIRE(offsets->size() == (count + step - 1) / step + 1);
  CHECK(offsets->back() == packed.size());
  for (std::size_t part = 0; part + 1 < offsets->size(); ++part) REQUIRE((*offsets)[part] == begins[part * step]);
  CHECK_FALSE(offsets_of_every(step, packed, count + 1));
  CHECK_FALSE(offsets_of_every(step, packed + '\x01', count));
  CHECK_FALSE(offsets_of_every(step, packed + '\x80', count));
  packed.back() = '\x80';
  CHECK_FALSE(offsets_of_every(step, packed, count));
}
