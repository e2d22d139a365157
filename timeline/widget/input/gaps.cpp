// Lost time of GPUs in a timeline: waits for other ranks; gaps, their selection, and moving from one to the next.
#include <algorithm>
#include <utility>

#include "timeline/core/view/viewport.h"
#include "view/view_state.h"

namespace lanescope::timeline {
namespace {

constexpr double kNarrowestGap = 4;  // device pixels: narrower gaps cannot be distinguished at a glance

}  // namespace

void ViewState::setIdleTime(std::shared_ptr<const IdleTime> idle) {
  if (idle == idle_time_) return;
  idle_time_ = std::move(idle);
  emit idleTimeChanged();
}

void ViewState::setCommunicationTime(std::shared_ptr<const CommunicationTime> time) {
  if (time == communication_time_) return;
  communication_time_ = std::move(time);
  emit communicationTimeChanged();
}

double ViewState::waitingShare(const Row& row, TimeRange range) const {
  if (!communication_time_ || range.empty()) return 0;
  return static_cast<double>(communication_time_->waited(row.all, range)) / static_cast<double>(range.length());
}

std::optional<TimeRange> ViewState::waitOf(EventRef kernel) const {
  if (!communication_time_ || !kernel.valid() || trace().track_of(kernel.lane).key.kind != TrackKind::kKernels) return std::nullopt;
  return communication_time_->wait_of(kernel.lane, trace().lane(kernel.lane).start(kernel.index));
}

std::optional<Gap> ViewState::selectedGap() const {
  if (!idle_time_) return std::nullopt;
  if (const std::optional<Selection::Gap>& gap = selection_.gap()) return idle_time_->find(gap->range, gap->gpu);
  return selectedRange() ? idle_time_->find(*selectedRange()) : std::nullopt;
}

bool ViewState::selectGap(IdleTime::Direction direction) {
  if (!idle_time_) return false;
  const bool forward = direction == IdleTime::Direction::kNext;
  Nanoseconds from = forward ? range_.begin - 1 : range_.end;
  if (selected().valid()) from = trace().event(selected()).start;
  const auto shortest = static_cast<Nanoseconds>(kNarrowestGap * static_cast<double>(range_.length()) / std::max(1, device_width_));
  const std::optional<Gap> before = selectedGap();
  const std::optional<Gap> gap = before ? idle_time_->nearest(*before, shortest, direction) : idle_time_->nearest(from, shortest, direction);
  if (!gap) return false;
  select({});
  selection_.selectGap({gap->range, gap->gpu});
  if (const auto row = tree().find("gpu:" + std::to_string(gap->gpu) + "/hw")) scrollTo(*row);
  setFollow(FollowLive::kNo);
  if (gap->range.begin >= range_.begin && gap->range.end <= range_.end) return true;
  const Nanoseconds middle = gap->range.begin + gap->range.length() / 2;
  navigate(panned(range_, middle - (range_.begin + range_.length() / 2)));
  return true;
}

std::optional<GpuId> gpu_of(const ViewState& state, const PlacedRow& placed) {
  const Row& row = state.tree().row(placed.row);
  const bool is_closed_gpu = row.kind == RowKind::kGpu && !placed.levels.empty();
  const bool works = (row.kind == RowKind::kGpuHardware || is_closed_gpu) && !row.all.empty();
  return works ? std::optional(state.trace().track_of(row.all.front().lane).key.gpu) : std::nullopt;
}

}  // namespace lanescope::timeline
