#include "base/text/catalogue_translator.h"

#include "model/text/language.h"

namespace lanescope::ui {

// Null where there is no translation: then another translator is asked, such as Qt's own.
QString CatalogueTranslator::translate(const char*, const char* text, const char*, int) const {
  const std::string translated = shown_language().translate(text);
  return translated == text ? QString() : QString::fromStdString(translated);
}

}  // namespace lanescope::ui
