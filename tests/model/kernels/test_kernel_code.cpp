// Instructions and lines of kernels: for tests/programs/gpu/transpositions.cu, whose source tells what there must be, and against Nsight Compute's listing of
// other kernels.
#include "model/kernels/code/kernel_code.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "model/kernels/code/cubin.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernels;

namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

KernelCode code_of(const Trace& trace, std::string_view kernel) {
  for (const Track& track : trace.tracks())
    for (const LaneId lane : track.lanes)
      if (track.key.kind == TrackKind::kKernels)
        for (EventIndex i = 0; i < trace.lane(lane).size(); ++i)
          if (const NameId name = trace.lane(lane).name(i); trace.name(name).starts_with(kernel)) {
            auto code = kernel_code(trace, track.key.process, name);
            REQUIRE(code);
            return std::move(*code);
          }
  FAIL("no kernel " << kernel);
  return {};
}

std::ptrdiff_t count(const KernelCode& code, std::string_view opcode) {
  return std::count_if(code.instructions.begin(), code.instructions.end(), [&](const CodeInstruction& each) { return each.text == opcode; });
}

}  // namespace

TEST_CASE("a sampled kernel's instructions are those that its source asks for, with lines and samples") {
  const auto trace = load_trace(test::data_file("transpositions.trace"));
  REQUIRE(trace);
  // Four elements for each thread: by columns, each is loaded and stored; through the tile, each goes to shared memory and back as well.
  const KernelCode columns = code_of(**trace, "transpose_by_columns");
  CHECK(count(columns, "LDG") == 4);
  CHECK(count(columns, "STG") == 4);
  CHECK(count(columns, "STS") == 0);
  CHECK(count(columns, "EXIT") == 1);
  const KernelCode tiled = code_of(**trace, "transpose_shared");
  for (const char* opcode : {"LDG", "STG", "LDS", "STS"}) CHECK(count(tiled, opcode) == 4);
  CHECK(count(tiled, "BAR") == 1);

  // The sums by instruction, by line and of the report are equal.
  std::uint64_t of_instructions = 0, of_lines = 0, of_report = 0;
  for (const CodeInstruction& each : columns.instructions) of_instructions += each.samples;
  for (const CodeLine& each : columns.lines) of_lines += each.samples;
  for (const StallSum& sum : sum_stalls(**trace, SumBy::kKernel))
    if ((*trace)->name(sum.kernel).starts_with("transpose_by_columns")) of_report += sum.samples;
  CHECK(of_instructions == of_report);
  CHECK(of_lines == of_report);
  CHECK(columns.samples == of_report);

  // The hottest line is the store along columns; in the tiled kernels the inlined line says which line it was inlined into.
  const auto hottest = std::max_element(columns.lines.begin(), columns.lines.end(), [](const CodeLine& a, const CodeLine& b) { return a.samples < b.samples; });
  std::istringstream program(contents(test::data_file("../programs/gpu/transpositions.cu")));
  std::string line;
  for (std::uint32_t number = 0; number < hottest->line; ++number) std::getline(program, line);
  CHECK_THAT(line, contains_text("out[place(column, row + i, kRows)] ="));
  const auto load = std::find_if(tiled.instructions.begin(), tiled.instructions.end(), [](const CodeInstruction& each) { return each.text == "LDS"; });
  CHECK_THAT(load->inlined_into, contains_text("transpositions.cu:"));
}

TEST_CASE("opcodes are those that Nsight Compute prints of the same code") {
  const auto corpus = test::corpus();
  if (!corpus) {
    WARN("no corpus: skipped");
    return;
  }
  auto cubin = Cubin::read(contents(*corpus / "ncu" / "zoo.cubin"));
  REQUIRE(cubin);
  for (const auto& [file, kernel] : {std::pair("zoo_source_naive.csv", "transpose_naive"), std::pair("zoo_source_shared.csv", "transpose_shared")}) {
    const auto function = std::find_if(cubin->functions().begin(), cubin->functions().end(),
                                       [&, name = std::string_view(kernel)](const CubinFunction& each) { return each.name.find(name) != each.name.npos; });
    REQUIRE(function != cubin->functions().end());
    std::istringstream listing(contents(*corpus / "ncu" / file));
    std::uint64_t first = 0, seen = 0;
    for (std::string line; std::getline(listing, line);) {
      if (!line.starts_with("\"0x")) continue;
      const std::uint64_t address = std::stoull(line.substr(3), nullptr, 16);
      if (first == 0) first = address;
      if (address - first + kInstructionBytes > function->size) continue;
      std::string text = line.substr(line.find(",\"") + 2);
      text = text.substr(0, text.find('"'));
      text = text.substr(text.find_first_not_of(' '));
      if (text.front() == '@') text = text.substr(text.find_first_not_of(' ', text.find(' ')));
      CAPTURE(file, text);
      CHECK(opcode_name(cubin->code(*function).subspan(address - first, kInstructionBytes)) == text.substr(0, text.find_first_of(" .")));
      ++seen;
    }
    CHECK(seen >= 30);
  }
}

TEST_CASE("what a disassembler prints is taken for the function that was asked for") {
  const std::string printed =
      "\t.headerflags\t@\"EF_CUDA_SM90\"\n"
      "\t.section\t.text._Z5otherv,\"ax\",@progbits\n.text._Z5otherv:\n        /*0000*/                   NOP ;\n"
      ".text._Z6kernelPf:\n.L_x_0:\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
      "        /*0010*/              @!P0 EXIT ;\n"
      "        /*00z0*/                   NOP ;\n"
      "        /*0020*/                   BRA `(.L_x_0);\n";
  const Disassembly texts = parse_disassembly(printed, "_Z6kernelPf");
  CHECK(texts == Disassembly{{0x00, "LDC R1, c[0x0][0x28]"}, {0x10, "@!P0 EXIT"}, {0x20, "BRA `(.L_x_0)"}});
  CHECK(parse_disassembly(printed, "_Z4nonev").empty());
  KernelCode code;
  code.instructions.resize(2);
  code.instructions[1].pc = 0x10;
  apply_disassembly(texts, code);
  CHECK(code.instructions[1].text == "@!P0 EXIT");
}

TEST_CASE("without samples, the sentence says how to have the code") {
  const auto trace = load_trace(test::data_file("cuda_streams.trace"));
  REQUIRE(trace);
  const auto code = kernel_code(**trace, 0, 1);
  REQUIRE(!code);
  CHECK_THAT(code.error().text, contains_text("--kernels=pc"));
}
