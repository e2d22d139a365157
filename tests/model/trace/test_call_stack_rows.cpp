#include "ingest/call_stack_rows.h"

#include <random>
#include <string>

#include "lanescope/trace.pb.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

// Numbers of all encoded lengths; sometimes 0, which is not written on the wire.
std::uint32_t random_number(std::mt19937& random) { return static_cast<std::uint32_t>(random()) >> (random() % 33 == 32 ? 31 : random() % 32); }

proto::CallStacks random_call_stacks(std::mt19937& random) {
  proto::CallStacks stacks;
  stacks.set_first_location(random_number(random));
  stacks.set_first_node(random_number(random));
  for (unsigned i = 0; i < random() % 20; ++i) {
    proto::CodeLocation& location = *stacks.add_locations();
    location.set_kind(static_cast<proto::CodeKind>(random() % 4));
    location.set_module(random_number(random));
    location.set_address(std::uint64_t{random()} << 32 | random());
    location.set_build_id(random_number(random));
    location.set_function(random_number(random));
    location.set_source_file(random_number(random));
    location.set_source_line(random_number(random));
  }
  for (unsigned i = 0; i < random() % 5; ++i) {
    proto::LocationSymbol& symbol = *stacks.add_symbols();
    symbol.set_location(random_number(random));
    for (unsigned k = 0; k < random() % 4; ++k) {
      proto::FunctionAt& function = *symbol.add_functions();
      function.set_function(random_number(random));
      function.set_source_file(random_number(random));
      function.set_source_line(random_number(random));
    }
  }
  for (unsigned i = 0; i < random() % 200; ++i) {
    proto::CallNode& node = *stacks.add_nodes();
    node.set_parent(random_number(random));
    node.set_location(random_number(random));
  }
  return stacks;
}

bool is_same(const CallStackRows::Function& row, const proto::FunctionAt& expected) {
  return row.function == expected.function() && row.source_file == expected.source_file() && row.source_line == expected.source_line();
}

bool is_same(const CallStackRows::Location& row, const proto::CodeLocation& expected) {
  return row.kind == static_cast<std::uint32_t>(expected.kind()) && row.module == expected.module() && row.address == expected.address() &&
         row.build_id == expected.build_id() && row.function == expected.function() && row.source_file == expected.source_file() &&
         row.source_line == expected.source_line();
}

void check_same(const CallStackRows& rows, const proto::CallStacks& expected) {
  CHECK(rows.first_location == expected.first_location());
  CHECK(rows.first_node == expected.first_node());
  REQUIRE(rows.locations.size() == static_cast<std::size_t>(expected.locations_size()));
  REQUIRE(rows.symbols.size() == static_cast<std::size_t>(expected.symbols_size()));
  REQUIRE(rows.nodes.size() == static_cast<std::size_t>(expected.nodes_size()));
  for (int i = 0; i < expected.locations_size(); ++i) REQUIRE(is_same(rows.locations[static_cast<std::size_t>(i)], expected.locations(i)));
  for (int i = 0; i < expected.symbols_size(); ++i) {
    const CallStackRows::Symbol& symbol = rows.symbols[static_cast<std::size_t>(i)];
    CHECK(symbol.location == expected.symbols(i).location());
    REQUIRE(symbol.functions.size() == static_cast<std::size_t>(expected.symbols(i).functions_size()));
    for (int k = 0; k < expected.symbols(i).functions_size(); ++k)
      REQUIRE(is_same(symbol.functions[static_cast<std::size_t>(k)], expected.symbols(i).functions(k)));
  }
  for (int i = 0; i < expected.nodes_size(); ++i) {
    const CallStackRows::Node& node = rows.nodes[static_cast<std::size_t>(i)];
    REQUIRE((node.parent == expected.nodes(i).parent() && node.location == expected.nodes(i).location()));
  }
}

}  // namespace

TEST_CASE("call stacks are what protobuf reads from the same bytes") {
  std::mt19937 random(GENERATE(range(1u, 60u)));
  const proto::CallStacks stacks = random_call_stacks(random);
  CallStackRows rows;
  REQUIRE(rows.parse(stacks.SerializeAsString()));
  check_same(rows, stacks);
}

TEST_CASE("call stacks with fields of a newer writer, or said twice, are read as protobuf reads them") {
  using namespace std::string_literals;
  const std::string node = "\x98\x06\x05"s + "\x08\x07\x10\x02"s + "\x1a\x02zz"s + "\x08\x09"s;  // field 99, parent 7, location 2, field 3, parent 9
  const std::string location =
      "\x18\x01"s + "\x19\x01\x02\x03\x04\x05\x06\x07\x08"s + "\x12\x01x"s + "\x10\x05"s;  // an address and a module with other wire types, too
  const std::string bytes = "\x2a"s + static_cast<char>(node.size()) + node + "\x12"s + static_cast<char>(location.size()) + location + "\xfa\x06\x03xyz"s +
                            "\x2a\x00"s + "\x20\x06"s;
  proto::CallStacks stacks;
  REQUIRE(stacks.ParseFromString(bytes));
  REQUIRE((stacks.nodes_size() == 2 && stacks.nodes(0).parent() == 9 && stacks.locations(0).address() == 0x0807060504030201));
  CallStackRows rows;
  REQUIRE(rows.parse(bytes));
  check_same(rows, stacks);
}

TEST_CASE("damaged call stacks are refused, or read as protobuf reads them") {
  std::mt19937 random(GENERATE(range(1u, 400u)));
  std::string bytes = random_call_stacks(random).SerializeAsString();
  if (random() % 2 == 0) bytes.resize(random() % (bytes.size() + 1));
  for (unsigned i = 0; i < random() % 4 && !bytes.empty(); ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
  CallStackRows rows;
  if (!rows.parse(bytes)) return;
  proto::CallStacks stacks;
  REQUIRE(stacks.ParseFromString(bytes));
  check_same(rows, stacks);
}
