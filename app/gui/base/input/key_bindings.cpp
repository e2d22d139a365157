#include "base/input/key_bindings.h"

#include <algorithm>

#include "base/state/settings.h"

namespace lanescope::ui {

KeyBindings& KeyBindings::ofProcess() {
  static KeyBindings bindings;
  return bindings;
}

const KeyBindings::Command* KeyBindings::find(const QString& id) const {
  const auto found = std::find_if(commands_.begin(), commands_.end(), [&](const Command& command) { return command.id == id; });
  return found == commands_.end() ? nullptr : &*found;
}

void KeyBindings::add(const Command& command) {
  if (find(command.id) == nullptr) commands_.push_back(command);
}

KeyBindings::Keys KeyBindings::keys(const QString& id) const {
  if (const std::optional<QString> chosen = Settings().keys(id)) return QKeySequence::listFromString(*chosen, QKeySequence::PortableText);
  const Command* command = find(id);
  return command != nullptr ? command->at_first : Keys();
}

// The window and the timeline may have the same default key for the same action, for example going to a time; that is no conflict.
QString KeyBindings::refusal(const Command& command, const Keys& keys) const {
  for (const QKeySequence& key : keys)
    for (const Command& other : commands_) {
      if (other.id == command.id || key.isEmpty() || !this->keys(other.id).contains(key)) continue;
      if (command.at_first.contains(key) && other.at_first.contains(key)) continue;
      return tr("%1 is the key of \"%2\". Press another one, or give that command another key first.").arg(key.toString(QKeySequence::NativeText), other.text);
    }
  return {};
}

QString KeyBindings::choose(const QString& id, const QKeySequence& key) {
  const Command* command = find(id);
  if (command == nullptr) return {};
  const Keys keys = key.isEmpty() ? Keys() : Keys{key};
  if (const QString problem = refusal(*command, keys); !problem.isEmpty()) return problem;
  Settings().setKeys(id, QKeySequence::listToString(keys, QKeySequence::PortableText));
  emit changed();
  return {};
}

QString KeyBindings::reset(const QString& id) {
  const Command* command = find(id);
  if (command == nullptr) return {};
  if (const QString problem = refusal(*command, command->at_first); !problem.isEmpty()) return problem;
  Settings().setKeys(id, std::nullopt);
  emit changed();
  return {};
}

void KeyBindings::resetAll() {
  Settings settings;
  for (const Command& command : commands_) settings.setKeys(command.id, std::nullopt);
  emit changed();
}

}  // namespace lanescope::ui
