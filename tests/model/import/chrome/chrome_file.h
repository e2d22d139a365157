// Chrome traces written by hand, and helpers that find events in them after the import.
#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <zlib.h>

#include "model/import/chrome_json.h"
#include "support/catch.h"
#include "support/paths.h"

namespace lanescope::test {

inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline void write_gzip(const std::filesystem::path& path, std::string_view text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

inline Result<std::shared_ptr<const Trace>> import_text(std::string_view text) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json";
  write_bytes(path, text);
  return import_chrome_json(path);
}

inline std::shared_ptr<const Trace> trace_of(std::string_view text) {
  auto trace = import_text(text);
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

// "EVENTS" as the traceEvents of an object.
inline std::shared_ptr<const Trace> trace_of_events(const std::string& events) { return trace_of("{\"traceEvents\": [" + events + "]}"); }

// All events of one kind, lane by lane.
struct Found {
  TrackKey key;
  std::size_t lane = 0;
  Event event;
  std::string name;
};
inline std::vector<Found> find_events(const Trace& trace, TrackKind kind) {
  std::vector<Found> found;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind) continue;
    for (std::size_t lane = 0; lane < track.lanes.size(); ++lane)
      for (EventIndex i = 0; i < trace.lane(track.lanes[lane]).size(); ++i) {
        const Event event = trace.lane(track.lanes[lane]).event(i);
        found.push_back({track.key, lane, event, std::string(trace.name(event.name))});
      }
  }
  return found;
}
inline Found only_event(const Trace& trace, TrackKind kind) {
  const auto found = find_events(trace, kind);
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace lanescope::test
