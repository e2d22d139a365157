#include "file/prologue.h"

#include <algorithm>

namespace lanescope::session {
namespace {

constexpr std::size_t kMaximumDiagnostics = 100;    // for each source; more of them say nothing new
constexpr std::size_t kDictionaryBytes = 8u << 20;  // of strings in one frame

template <typename Message>
std::optional<Message> parsed(const FrameView& frame) {
  Message message;
  const Result<std::string> payload = open_frame(frame);
  if (!payload || !message.ParseFromString(*payload)) return std::nullopt;
  return message;
}

void append(proto::FrameType type, std::uint32_t process, std::uint8_t source, const google::protobuf::MessageLite& message, std::vector<std::byte>& frames) {
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(type);
  header.source = source;
  header.process = process;
  append_frame(header, message.SerializeAsString(), frames);
}

// Adds the entries that are new. Ids count from 1 without gaps; otherwise the chunk is ignored.
template <typename Entries>
void extend_entries(std::uint32_t first, Entries& more, Entries& entries) {
  if (more.empty() || first == 0 || first > static_cast<std::uint32_t>(entries.size()) + 1) return;
  for (int i = entries.size() - static_cast<int>(first - 1); i < more.size(); ++i) *entries.Add() = std::move(*more.Mutable(i));
}

template <typename Map, typename Entries>
void copy_values(const Map& map, Entries* entries) {
  for (const auto& [key, value] : map) *entries->Add() = value;
}

// Appends strings, in frames of bounded size, then everything else.
void append_dictionary(const proto::EventChunk& dictionary, std::uint32_t process, std::uint8_t source, std::vector<std::byte>& frames) {
  proto::EventChunk part;
  std::size_t bytes = 0;
  for (int i = 0; i < dictionary.strings_size(); ++i) {
    if (part.strings_size() == 0) part.set_first_string(static_cast<std::uint32_t>(i) + 1);
    part.add_strings(dictionary.strings(i));
    bytes += dictionary.strings(i).size();
    if (bytes < kDictionaryBytes) continue;
    append(proto::FRAME_EVENTS, process, source, part, frames);
    part.Clear();
    bytes = 0;
  }
  if (dictionary.launch_shapes_size() > 0) part.set_first_shape(1);
  if (dictionary.queues_size() > 0) part.set_first_queue(1);
  if (dictionary.copy_shapes_size() > 0) part.set_first_copy_shape(1);
  *part.mutable_launch_shapes() = dictionary.launch_shapes();
  *part.mutable_queues() = dictionary.queues();
  *part.mutable_copy_shapes() = dictionary.copy_shapes();
  if (dictionary.code_locations_size() > 0) part.set_first_code_location(1);
  if (dictionary.call_nodes_size() > 0) part.set_first_call_node(1);
  *part.mutable_code_locations() = dictionary.code_locations();
  *part.mutable_call_nodes() = dictionary.call_nodes();
  if (part.ByteSizeLong() > 0) append(proto::FRAME_EVENTS, process, source, part, frames);
}

}  // namespace

void Prologue::merge(const proto::Resources& message, Resources& resources) {
  for (const auto& device : message.devices()) resources.devices[device.id()] = device;
  for (const auto& context : message.contexts()) resources.contexts[context.id()] = context;
  for (const auto& stream : message.streams()) resources.streams[{stream.context(), stream.id()}] = stream;
  for (const auto& thread : message.threads()) resources.threads[thread.id()] = thread;
  for (const auto& domain : message.nvtx_domains()) resources.domains[domain.id()] = domain;
  for (const auto& category : message.nvtx_categories()) resources.categories[{category.domain(), category.id()}] = category;
  for (const auto& counter : message.counters()) resources.counters[counter.id()] = counter;
  for (const auto& name : message.cuda_names()) resources.cuda_names[{static_cast<std::uint32_t>(name.resource()), name.id()}] = name;
}

void Prologue::extend(proto::EventChunk chunk, proto::EventChunk& dictionary) {
  extend_entries(chunk.first_string(), *chunk.mutable_strings(), *dictionary.mutable_strings());
  extend_entries(chunk.first_shape(), *chunk.mutable_launch_shapes(), *dictionary.mutable_launch_shapes());
  extend_entries(chunk.first_queue(), *chunk.mutable_queues(), *dictionary.mutable_queues());
  extend_entries(chunk.first_copy_shape(), *chunk.mutable_copy_shapes(), *dictionary.mutable_copy_shapes());
  extend_entries(chunk.first_code_location(), *chunk.mutable_code_locations(), *dictionary.mutable_code_locations());
  extend_entries(chunk.first_call_node(), *chunk.mutable_call_nodes(), *dictionary.mutable_call_nodes());
}

void Prologue::absorb(const FrameView& frame) {
  const std::uint32_t instance = frame.header.process;
  const bool begins = frame.header.type == proto::FRAME_PROCESS_START && instance >= first_new_;
  if (instance != 0 && !begins && !knows(instance)) return;
  switch (frame.header.type) {
    case proto::FRAME_PROCESS_START:
      if (auto start = parsed<proto::ProcessStart>(frame)) processes_[instance].start = std::move(*start);
      first_new_ = std::max(first_new_, instance + 1);
      break;
    case proto::FRAME_PROCESS_END:
      if (auto end = parsed<proto::ProcessEnd>(frame); end && end->kind() != proto::PROCESS_END_DETACHED) processes_[instance].end = std::move(*end);
      break;
    case proto::FRAME_RESOURCES:
      if (const auto message = parsed<proto::Resources>(frame)) merge(*message, processes_[instance].sources[frame.header.source].resources);
      break;
    case proto::FRAME_EVENTS:
      if (auto chunk = parsed<proto::EventChunk>(frame)) extend(std::move(*chunk), processes_[instance].sources[frame.header.source].dictionary);
      break;
    case proto::FRAME_SYMBOLS:
      if (auto symbols = parsed<proto::Symbols>(frame)) {
        proto::EventChunk& dictionary = processes_[instance].sources[frame.header.source].dictionary;
        extend_entries(symbols->first_string(), *symbols->mutable_strings(), *dictionary.mutable_strings());
      }
      break;
    case proto::FRAME_DIAGNOSTIC: {
      auto& told = processes_[instance].sources[frame.header.source].diagnostics;
      if (told.size() >= kMaximumDiagnostics) break;
      auto diagnostic = parsed<proto::Diagnostic>(frame);
      const auto is_same = [&diagnostic](const proto::Diagnostic& before) { return before.text() == diagnostic->text(); };
      if (diagnostic && std::none_of(told.begin(), told.end(), is_same)) told.push_back(std::move(*diagnostic));
      break;
    }
    default:
      break;
  }
}

std::set<std::uint32_t> Prologue::known() const {
  std::set<std::uint32_t> known;
  for (const auto& [instance, process] : processes_) known.insert(known.end(), instance);
  return known;
}

void Prologue::forget_ended(std::uint32_t process) {
  if (const auto known = processes_.find(process); known != processes_.end() && known->second.end) processes_.erase(known);
}

void Prologue::forget(proto::FrameSource source) {
  for (auto& [instance, process] : processes_) process.sources.erase(static_cast<std::uint8_t>(source));
}

void Prologue::append_to(std::vector<std::byte>& frames, std::int64_t begin) const {
  for (const auto& [instance, process] : processes_) {
    if (process.start) {
      proto::ProcessStart start = *process.start;
      start.set_time(std::max(start.time(), begin));
      append(proto::FRAME_PROCESS_START, instance, proto::SOURCE_SESSION, start, frames);
    }
    for (const auto& [source, told] : process.sources) {
      proto::Resources resources;
      copy_values(told.resources.devices, resources.mutable_devices());
      copy_values(told.resources.contexts, resources.mutable_contexts());
      copy_values(told.resources.streams, resources.mutable_streams());
      copy_values(told.resources.threads, resources.mutable_threads());
      copy_values(told.resources.domains, resources.mutable_nvtx_domains());
      copy_values(told.resources.categories, resources.mutable_nvtx_categories());
      copy_values(told.resources.counters, resources.mutable_counters());
      copy_values(told.resources.cuda_names, resources.mutable_cuda_names());
      if (resources.ByteSizeLong() > 0) append(proto::FRAME_RESOURCES, instance, source, resources, frames);
      append_dictionary(told.dictionary, instance, source, frames);
      for (proto::Diagnostic diagnostic : told.diagnostics) {
        diagnostic.set_time(std::max(diagnostic.time(), begin));
        append(proto::FRAME_DIAGNOSTIC, instance, source, diagnostic, frames);
      }
    }
    if (process.end) {
      proto::ProcessEnd end = *process.end;
      end.set_time(std::max(end.time(), begin));
      append(proto::FRAME_PROCESS_END, instance, proto::SOURCE_SESSION, end, frames);
    }
  }
}

}  // namespace lanescope::session
