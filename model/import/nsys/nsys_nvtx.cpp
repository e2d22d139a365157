// NVTX: ranges, marks, and the names of domains, categories and threads.
#include <algorithm>
#include <array>
#include <bit>

#include "nsys_context.h"

namespace lanescope::importers {
namespace {

// NVTX_EVENTS.eventType.
enum EventType : std::int64_t {
  kCategory = 33,
  kMark = 34,
  kThreadName = 39,
  kPushPopRange = 59,
  kStartEndRange = 60,
  kTextPushPopRange = 70,
  kTextStartEndRange = 71,
  kDomainCreate = 75,
};

enum Column {
  kStart,
  kEnd,
  kType,
  kCategoryId,
  kColor,
  kText,
  kTextId,
  kGlobalTid,
  kEndGlobalTid,
  kDomain,
  kUnsigned64,
  kSigned64,
  kDouble,
  kUnsigned32,
  kSigned32,
  kFloat,
  kJson,
  kJsonId,
};
constexpr std::array<std::string_view, kJsonId + 1> kColumns = {"start",       "end",         "eventType",    "category",   "color",       "text",
                                                                "textId",      "globalTid",   "endGlobalTid", "domainId",   "uint64Value", "int64Value",
                                                                "doubleValue", "uint32Value", "int32Value",   "floatValue", "jsonText",    "jsonTextId"};

struct OpenRange {
  TrackKey key;
  Event event;
};

std::optional<TrackKind> kind_of(std::int64_t type) {
  switch (type) {
    case kPushPopRange:
    case kTextPushPopRange:
      return TrackKind::kNvtxRanges;
    case kStartEndRange:
    case kTextStartEndRange:
      return TrackKind::kNvtxProcessRanges;
    case kMark:
      return TrackKind::kNvtxMarks;
    default:
      return std::nullopt;
  }
}

void read_payload(const TableRows& rows, NvtxDetail& detail) {
  if (!rows.is_null(kUnsigned64) || !rows.is_null(kUnsigned32)) {
    detail.payload_type = PayloadType::kUnsigned;
    detail.payload = static_cast<std::uint64_t>(rows.integer(rows.is_null(kUnsigned64) ? kUnsigned32 : kUnsigned64));
  } else if (!rows.is_null(kSigned64) || !rows.is_null(kSigned32)) {
    detail.payload_type = PayloadType::kSigned;
    detail.payload = static_cast<std::uint64_t>(rows.integer(rows.is_null(kSigned64) ? kSigned32 : kSigned64));
  } else if (!rows.is_null(kDouble) || !rows.is_null(kFloat)) {
    detail.payload_type = PayloadType::kReal;
    detail.payload = std::bit_cast<std::uint64_t>(rows.real(rows.is_null(kDouble) ? kFloat : kDouble));
  }
}

class NvtxTable {
 public:
  explicit NvtxTable(NsysContext& context) : context_(context) {}

  Result<void> read() {
    TableRows rows = context_.database.rows("NVTX_EVENTS", kColumns);
    while (rows.next()) {
      if (const auto kind = kind_of(rows.integer(kType)))
        read_event(rows, *kind);
      else
        read_name(rows);
      if (!context_.count_row()) break;
    }
    if (!rows.failure().empty()) return unreadable("NVTX_EVENTS", rows);
    // Ranges without an end extend to the last NVTX event, if the file does not say until when they were seen.
    for (OpenRange& range : open_) {
      range.event.duration = difference(std::max(last_time_, range.event.start), range.event.start);
      groups_.add(range.key, range.event);
    }
    groups_.flush();
    return {};
  }

 private:
  static std::uint32_t domain(const TableRows& rows) { return static_cast<std::uint32_t>(rows.integer(kDomain)); }

  void read_event(const TableRows& rows, TrackKind kind) {
    const std::int64_t global_tid = rows.integer(kGlobalTid);
    const TrackKey key{.kind = kind, .process = context_.process(global_tid), .thread = context_.thread(global_tid), .domain = domain(rows)};
    const bool open = kind != TrackKind::kNvtxMarks && rows.is_null(kEnd);
    NvtxDetail detail;
    detail.category = static_cast<std::uint32_t>(rows.integer(kCategoryId));
    detail.color = static_cast<std::uint32_t>(rows.integer(kColor));
    read_payload(rows, detail);
    if (!rows.is_null(kJson)) detail.payload_json = context_.builder.intern(rows.text(kJson));
    if (rows.is_null(kJson) && !rows.is_null(kJsonId)) detail.payload_json = context_.name(rows.integer(kJsonId));
    if (const std::int64_t end_tid = rows.integer(kEndGlobalTid); end_tid != 0 && end_tid != global_tid) detail.end_thread = context_.thread(end_tid);
    if (open) detail.finished = Finished::kNo;

    Event event;
    event.start = rows.integer(kStart);
    if (kind != TrackKind::kNvtxMarks && !open) event.duration = duration_between(rows, kStart, kEnd);
    event.name = rows.is_null(kText) ? (rows.is_null(kTextId) ? NameId{0} : context_.name(rows.integer(kTextId))) : context_.builder.intern(rows.text(kText));
    event.correlation = static_cast<std::uint32_t>(rows.row_id());
    event.detail = context_.builder.intern(detail);
    const std::optional<Nanoseconds> seen_until = open ? context_.unfinished("NVTX_EVENTS", rows.row_id()) : std::nullopt;
    if (seen_until) event.duration = difference(*seen_until, event.start);
    if (is_near(event.start) && is_near(event.duration)) last_time_ = std::max({last_time_, event.start, event.end()});
    if (open && !seen_until)
      open_.push_back({key, event});
    else
      groups_.add(key, event);
  }

  void read_name(const TableRows& rows) {
    const std::string_view text = rows.is_null(kText) ? context_.text(rows.integer(kTextId)) : rows.text(kText);
    const std::int64_t global_tid = rows.integer(kGlobalTid);
    switch (rows.integer(kType)) {
      case kDomainCreate:
        context_.name_domain(global_tid, domain(rows), text);
        break;
      case kCategory:
        context_.name_category(global_tid, domain(rows), static_cast<std::uint32_t>(rows.integer(kCategoryId)), text);
        break;
      case kThreadName:
        context_.name_thread(context_.thread(global_tid), text);
        break;
      default:
        break;
    }
  }

  NsysContext& context_;
  EventGroups groups_{context_};
  std::vector<OpenRange> open_;
  Nanoseconds last_time_ = 0;
};

}  // namespace

Result<void> import_nvtx(NsysContext& context) { return NvtxTable(context).read(); }

}  // namespace lanescope::importers
