#include "options.h"

#include <QRegularExpression>

#include "base/text/time_text.h"

namespace lanescope::ui {
namespace {

constexpr char kHelp[] = R"(lanescope-ui: shows where the time of a CUDA program goes.

Usage: lanescope-ui [FILE [FILE]] [--range START:END] [--panel NAME]
       lanescope-ui FILE FILE FILE... | FOLDER | --together FILE FILE
       lanescope-ui FILE... --screenshot OUT.png [-f] [--size WxH] [--range START:END] [--panel NAME]

  FILE                 A .trace file, an Nsight Systems SQLite export or a Chrome JSON trace; a second one opens beside the
                       first, on one time axis, and is compared with it; three and more are one trace, such as those of the
                       ranks of a job
  FOLDER               The .trace files in it, as one trace
  --together           Two files are one trace, too, and are not compared
  --screenshot OUT     Draw the window into a picture, whose name ends in .png, and end; needs no display
  -f, --force-overwrite
                       Replace the picture when it exists
  --size WxH           Size of the picture in pixels (1600x1000)
  --range START:END    The part of time to show or draw, in s, ms, us or ns: 1.2s:1.5s
  --panel NAME         The panel to have in front: events, statistics, bubbles, findings, diff, samples, query, notes,
                       kernel, source, diagnostics or details
  --language CODE      The language of the window: en or zh_CN; else what View > Language says, or the desktop
  -h, --help           Show this text
  -V, --version        Show the version
)";

constexpr int kUsage = 2;

Answer wrong(const QString& sentence) { return {sentence + u'\n', kUsage}; }

std::optional<QSize> parse_size(const QString& text) {
  static const QRegularExpression pattern(QStringLiteral("^(\\d{2,5})x(\\d{2,5})$"));
  const QRegularExpressionMatch match = pattern.match(text);
  if (!match.hasMatch()) return std::nullopt;
  return QSize(match.captured(1).toInt(), match.captured(2).toInt());
}

}  // namespace

std::variant<Options, Answer> parse_options(const QStringList& arguments) {
  Options options;
  ScreenshotRequest picture;
  bool wants_picture = false;
  QString of_picture;  // an option that only applies to pictures
  for (qsizetype i = 0; i < arguments.size(); ++i) {
    const qsizetype equals = arguments[i].startsWith(u"--") ? arguments[i].indexOf(u'=') : -1;
    const QString name = arguments[i].left(equals);
    if (name == u"--help" || name == u"-h") return Answer{QString::fromUtf8(kHelp)};
    if (name == u"--version" || name == u"-V") return Answer{QStringLiteral("lanescope-ui " LANESCOPE_VERSION "\n")};
    if (!name.startsWith(u'-') || name == u"-") {
      options.files += arguments[i];
      continue;
    }
    if (name == u"--together" && equals < 0) {
      options.several = Several::kTogether;
      continue;
    }
    if ((name == u"--force-overwrite" || name == u"-f") && equals < 0) {
      picture.overwrite = Overwrite::kAllow;
      of_picture = name;
      continue;
    }
    if (name != u"--screenshot" && name != u"--size" && name != u"--range" && name != u"--panel" && name != u"--language")
      return wrong(QStringLiteral("Unknown option %1. See lanescope-ui --help.").arg(name));
    if (equals < 0 && i + 1 == arguments.size()) return wrong(QStringLiteral("%1 needs a value. See lanescope-ui --help.").arg(name));
    const QString value = equals < 0 ? arguments[++i] : arguments[i].mid(equals + 1);
    if (name == u"--size") of_picture = name;
    if (name == u"--screenshot") {
      if (!value.endsWith(u".png", Qt::CaseInsensitive))
        return wrong(QStringLiteral("--screenshot needs the name of a picture that ends in .png, not \"%1\".").arg(value));
      picture.picture = value;
      wants_picture = true;
    } else if (name == u"--language") {
      options.language = find_language(value.toStdString());
      if (!options.language) return wrong(QStringLiteral("There is no language \"%1\". Name en or zh_CN.").arg(value));
    } else if (name == u"--panel") {
      if (!MainWindow::panelNames().contains(value))
        return wrong(QStringLiteral("There is no panel \"%1\". Name one of %2.").arg(value, MainWindow::panelNames().join(QStringLiteral(", "))));
      options.view.panel = value;
    } else if (name == u"--size") {
      const std::optional<QSize> size = parse_size(value);
      if (!size) return wrong(QStringLiteral("--size needs a width and a height like 1600x1000, not \"%1\".").arg(value));
      picture.size = *size;
    } else {
      options.view.range = parse_range(value);
      if (!options.view.range) return wrong(QStringLiteral("--range needs a beginning and a later end like 1.2s:1.5s, not \"%1\".").arg(value));
    }
  }
  if (options.files.isEmpty() && (options.view.range || !options.view.panel.isEmpty()))
    return wrong(QStringLiteral("--range and --panel need a file to show."));
  if (options.several == Several::kTogether && options.files.isEmpty()) return wrong(QStringLiteral("--together needs the files that are one trace."));
  if (!wants_picture && !of_picture.isEmpty())
    return wrong(QStringLiteral("%1 is about the picture that --screenshot draws, which is not given. See lanescope-ui --help.").arg(of_picture));
  if (wants_picture) {
    if (options.files.isEmpty()) return wrong(QStringLiteral("--screenshot needs a file to draw."));
    picture.files = options.files;
    picture.several = options.several;
    picture.view = options.view;
    options.screenshot = picture;
  }
  return options;
}

}  // namespace lanescope::ui
