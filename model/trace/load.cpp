#include "model/trace/load.h"

#include <chrono>

#include "model/file/trace_file.h"
#include "model/trace/frame_ingest.h"

namespace lanescope {

Result<std::shared_ptr<const Trace>> load_trace(const std::filesystem::path& path, const LoadProgress& progress) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPartialInterval = std::chrono::milliseconds(250);  // how often what has come so far is shown

  auto reader = TraceFileReader::open(path);
  if (!reader) return reader.error();
  TraceBuilder builder;
  FrameIngest ingest(builder);
  builder.provenance().format = "Lanescope";
  auto last_partial = Clock::now();
  while (const auto frame = reader->next()) {
    ingest.add(*frame);
    if (!progress) continue;
    const double fraction = static_cast<double>(reader->position()) / static_cast<double>(std::max<std::uint64_t>(1, reader->size()));
    std::shared_ptr<const Trace> partial;
    if (const auto now = Clock::now(); now - last_partial > kPartialInterval) {
      partial = builder.snapshot();
      last_partial = Clock::now();
    }
    if (progress(fraction, std::move(partial)) == LoadStep::kCancel) break;
  }

  Provenance& provenance = builder.provenance();
  provenance.finished = reader->condition().finished;
  provenance.condition = reader->condition().sentence();
  if (const std::uint64_t malformed = ingest.malformed(); malformed > 0) {
    if (!provenance.condition.empty()) provenance.condition += ' ';
    provenance.condition += std::to_string(malformed) + " frames could not be understood and were skipped.";
  }
  return builder.snapshot();
}

}  // namespace lanescope
