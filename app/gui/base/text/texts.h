// Texts of the model as QString, and texts that several panels use.
#pragma once

#include <cmath>
#include <string_view>

#include <QObject>
#include <QRegularExpression>
#include <QString>

#include "model/trace/types.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {

[[nodiscard]] inline QString text_of(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }
[[nodiscard]] inline QString html(std::string_view text) { return text_of(text).toHtmlEscaped(); }

// The text in the language of the viewer; for functions outside of classes.
[[nodiscard]] inline QString tr(const char* text) { return QObject::tr(text); }

// "2.346 s", "417 ns".
[[nodiscard]] inline QString duration_text(Nanoseconds duration) { return text_of(timeline::format_duration(duration)); }
[[nodiscard]] inline QString duration_text(double nanoseconds) { return duration_text(static_cast<Nanoseconds>(std::llround(nanoseconds))); }

// For a text whose lines are wrapped: no line break between a number and its unit, as in "18.7 ms" and "94 %".
[[nodiscard]] inline QString unbroken(QString text) {
  static const QRegularExpression between(QStringLiteral("(?<=\\d) (?=(?:%|[nµm]?s|[KMGT]?i?B(?:/s)?)(?![A-Za-z]))"));
  return text.replace(between, QString(QChar::Nbsp));
}

}  // namespace lanescope::ui
