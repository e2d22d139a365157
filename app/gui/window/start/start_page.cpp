#include "window/start/start_page.h"

#include <algorithm>

#include <QUrl>
#include <QVBoxLayout>

namespace lanescope::ui {
namespace {

constexpr std::size_t kShownFiles = 6;

}  // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent), text_(new QLabel(this)) {
  auto* column = new QVBoxLayout(this);
  column->addStretch(1);
  column->addWidget(text_, 0, Qt::AlignHCenter);
  column->addStretch(2);
  text_->setTextFormat(Qt::RichText);
  setFocusPolicy(Qt::StrongFocus);
  connect(text_, &QLabel::linkActivated, this, &StartPage::follow);
  setRecentFiles({});
}

void StartPage::setRecentFiles(const std::vector<RecentFileText>& files) {
  QString html = QStringLiteral(
                     "<p style='font-size:large'>%1</p><p><a href='open:'>%2</a> &nbsp; <a href='launch:'>%3</a> &nbsp; <a "
                     "href='attach:'>%4</a></p><p>%5</p>")
                     .arg(tr("No trace is open"), tr("Open a file…"), tr("Launch and record a program…"), tr("Attach to a running process…"),
                          tr("or drop a .trace file, an Nsight Systems SQLite export or a Chrome JSON trace here."));
  if (!files.empty()) html += QStringLiteral("<p>&nbsp;</p><p>%1</p>").arg(tr("Recent files"));
  for (std::size_t i = 0; i < std::min(kShownFiles, files.size()); ++i) {
    const RecentFileText& file = files[i];
    html +=
        QStringLiteral("<div><a href='file:%1'>%2</a> &nbsp; %3 &nbsp; %4</div>")
            .arg(QString::fromLatin1(QUrl::toPercentEncoding(file.entry)), file.name.toHtmlEscaped(), file.folder.toHtmlEscaped(), file.facts.toHtmlEscaped());
  }
  text_->setText(html);
}

void StartPage::follow(const QString& link) {
  if (link == u"open:") return emit openRequested();
  if (link == u"launch:") return emit launchRequested();
  if (link == u"attach:") return emit attachRequested();
  emit recentRequested(QUrl::fromPercentEncoding(link.mid(5).toLatin1()));  // after "file:"
}

}  // namespace lanescope::ui
