#include "base/text/catalogue_translator.h"

#include <array>

#include "model/text/language.h"
#include "model/text/to_translate.h"

namespace lanescope::ui {
namespace {

// Buttons that Qt names, in case its own translations are not installed.
[[maybe_unused]] constexpr std::array kButtonsOfQt = {to_translate("OK"),      to_translate("&OK"),    to_translate("Cancel"), to_translate("&Cancel"),
                                                      to_translate("Close"),   to_translate("&Close"), to_translate("Open"),   to_translate("&Open"),
                                                      to_translate("Save"),    to_translate("&Save"),  to_translate("&Yes"),   to_translate("&No"),
                                                      to_translate("Discard"), to_translate("Apply"),  to_translate("Reset")};

}  // namespace

// Returns null if there is no translation: then another translator is asked, for example Qt's own.
QString CatalogueTranslator::translate(const char*, const char* text, const char*, int) const {
  const std::string translated = shown_language().translate(text);
  return translated == text ? QString() : QString::fromStdString(translated);
}

}  // namespace lanescope::ui
