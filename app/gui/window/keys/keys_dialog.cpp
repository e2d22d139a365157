#include "window/keys/keys_dialog.h"

#include <QDialogButtonBox>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "base/room/screen_room.h"

namespace lanescope::ui {
namespace {

QString section(const QString& title, const KeysDialog::Entries& entries) {
  QString rows;
  for (const auto& [gesture, effect] : entries)
    rows += QStringLiteral("<tr><td style='padding-right:24px; white-space:nowrap'><b>%1</b></td><td>%2</td></tr>")
                .arg(gesture.toHtmlEscaped(), effect.toHtmlEscaped());
  return QStringLiteral("<h3>%1</h3><table cellspacing='0' cellpadding='2'>%2</table>").arg(title.toHtmlEscaped(), rows);
}

}  // namespace

KeysDialog::KeysDialog(const Entries& timeline, const Entries& window, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Keyboard and mouse"));
  auto* sheet = new QTextBrowser(this);
  sheet->setFrameShape(QFrame::NoFrame);
  sheet->setHtml(section(tr("Timeline"), timeline) + section(tr("Window"), window));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* column = new QVBoxLayout(this);
  column->addWidget(sheet);
  column->addWidget(buttons);
  resize(QSize(fontMetrics().averageCharWidth() * 110, fontMetrics().height() * 40).boundedTo(room_on_screen(*this)));
}

}  // namespace lanescope::ui
