// Which keys do what: as the viewer has it at first, but for what somebody chose otherwise, which settings keep. All windows of the process have
// the same.
//
// Threads: the GUI thread only.
#pragma once

#include <vector>

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>

namespace lanescope::ui {

class KeyBindings : public QObject {
  Q_OBJECT

 public:
  using Keys = QList<QKeySequence>;
  struct Command {
    QString id;    // in settings; the same in every language
    QString text;  // "Go to a time"
    Keys at_first;
  };

  [[nodiscard]] static KeyBindings& ofProcess();

  void add(const Command& command);                                                 // one that is known already stays as it is
  [[nodiscard]] const std::vector<Command>& commands() const { return commands_; }  // in the order in which they were added
  [[nodiscard]] Keys keys(const QString& id) const;

  // From now on this key alone does it (an empty one: none does). Empty, or a sentence that says why not: another command has the key.
  [[nodiscard]] QString choose(const QString& id, const QKeySequence& key);
  [[nodiscard]] QString reset(const QString& id);  // to what it was at first; refused likewise
  void resetAll();

 signals:
  void changed();

 private:
  [[nodiscard]] const Command* find(const QString& id) const;
  [[nodiscard]] QString refusal(const Command& command, const Keys& keys) const;
  std::vector<Command> commands_;
};

}  // namespace lanescope::ui
