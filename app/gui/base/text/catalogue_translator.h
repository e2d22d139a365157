// Translates texts of Qt and of Lanescope into the language of this process: tr() uses the same translations as the folders without Qt (model/text).
#pragma once

#include <QTranslator>

namespace lanescope::ui {

// The text alone is the key: contexts are ignored, so that a text has the same translation everywhere.
class CatalogueTranslator : public QTranslator {
  Q_OBJECT

 public:
  using QTranslator::QTranslator;
  [[nodiscard]] bool isEmpty() const override { return false; }
  [[nodiscard]] QString translate(const char* context, const char* text, const char* disambiguation, int n) const override;
};

}  // namespace lanescope::ui
