#include "processes/arrival/reception.h"

#include <algorithm>

#include "clock.h"

namespace lanescope::session {
namespace {

constexpr std::int64_t kStrangersTime = 1'000'000'000;  // ns
constexpr std::ptrdiff_t kMostStrangers = 64;
constexpr int kMostVisitors = 256;  // limit of visitors for one round, equal to the backlog of our socket; others have their turn after that

}  // namespace

void Reception::let_in(std::vector<Guest>& guests) {
  for (int visitors = 0; visitors < kMostVisitors && socket_; ++visitors) {
    std::optional<ControlSocket::Visitor> visitor = socket_->accept();
    if (!visitor) return;
    if (visitor->connection.valid())
      silent_.push_back({std::move(visitor->connection), visitor->is_known ? 0 : monotonic_now() + kStrangersTime});
    else if (visitor->is_known && visitor->pid > 0)
      guests.push_back({Outcome::kNoDescriptor, {visitor->pid}, {}});
  }
}

void Reception::send_old_strangers_away() {
  const auto is_stranger = [](const Silent& each) { return each.limit != 0; };
  auto too_many = std::count_if(silent_.begin(), silent_.end(), is_stranger) - kMostStrangers;
  std::erase_if(silent_, [&](const Silent& each) { return is_stranger(each) && too_many-- > 0; });
}

bool Reception::is_somebody_waiting() const noexcept {
  return std::any_of(silent_.begin(), silent_.end(), [](const Silent& each) { return each.limit == 0; });
}

std::vector<Reception::Guest> Reception::receive() {
  std::vector<Guest> guests;
  let_in(guests);
  std::erase_if(silent_, [&](Silent& silent) {
    Greeting greeting;
    const GreetingState state = receive_greeting(silent.connection.get(), greeting);
    if (state == GreetingState::kWaiting) return silent.limit != 0 && monotonic_now() > silent.limit;
    const bool is_ours = silent.limit == 0 || (state == GreetingState::kArrived && socket_->is_our_token(greeting.hello.token));
    if (is_ours && state == GreetingState::kArrived) {
      guests.push_back({Outcome::kArrived, greeting, std::move(silent.connection)});
      if (socket_) socket_->sign(guests.back().answer);
    }
    if (is_ours && state == GreetingState::kOtherLayout) guests.push_back({Outcome::kOtherLayout, greeting, std::move(silent.connection)});
    return true;
  });
  send_old_strangers_away();
  return guests;
}

void Reception::close() {
  socket_.reset();
  silent_.clear();
}

void Reception::add_sources(std::vector<pollfd>& sources) const {
  if (socket_)
    for (const int listener : socket_->descriptors()) sources.push_back({listener, POLLIN, 0});
  for (const Silent& silent : silent_) sources.push_back({silent.connection.get(), POLLIN, 0});
}

}  // namespace lanescope::session
