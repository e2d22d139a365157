// Qt's texts and ours in the language that this process shows: tr() asks the same translations as the folders without Qt (model/text).
#pragma once

#include <QTranslator>

namespace lanescope::ui {

// The text alone is the key: contexts do not count, so that a text has one translation wherever it stands.
class CatalogueTranslator : public QTranslator {
  Q_OBJECT

 public:
  using QTranslator::QTranslator;
  [[nodiscard]] bool isEmpty() const override { return false; }
  [[nodiscard]] QString translate(const char* context, const char* text, const char* disambiguation, int n) const override;
};

}  // namespace lanescope::ui
