#include "base/text/condition_text.h"

#include <array>

#include "base/text/known_sentences.h"
#include "model/text/to_translate.h"

namespace lanescope::ui {
namespace {

constexpr std::array kSentences = {
    to_translate("{count} frame is damaged and skipped, the first at byte {byte}."),
    to_translate("{count} frames are damaged and skipped, the first at byte {byte}."),
    to_translate("Behind byte {byte} much looks like frames and is none: what follows was not searched for more."),
    to_translate("Can't read {file} at byte {byte}: {reason}; what had been read by then is here."),
    to_translate("The file was cut, or written anew, while it was read: what had been read by then is here."),
    to_translate("The recording was cut off or is still being written: everything up to its last whole frame is here."),
    to_translate("What follows byte {byte} was not read: the file unpacks to more than a recording of its size may hold (docs/file-format.md, Limits). Where "
                 "you trust it, this makes one that is "
                 "read whole: {command}"),
    to_translate("{count} frame could not be understood and was skipped."),
    to_translate("{count} frames could not be understood and were skipped."),
    to_translate("{count} frame of a kind that this version does not know was skipped (events: {events}): a newer Lanescope reads it."),
    to_translate("{count} frames of kinds that this version does not know were skipped (events: {events}): a newer Lanescope reads them."),
    to_translate("{count} event could not be read any more and were left out."),
    to_translate("{count} events could not be read any more and were left out."),
    to_translate("Rows were left out by choice when this file was saved."),
    to_translate("The recording was still running when this was saved: what came later is not here."),
    to_translate("{count} event had no room in the file."),
    to_translate("{count} events had no room in the file."),
    to_translate("The file is damaged: {damage}; the {count} event before that were read."),
    to_translate("The file is damaged: {damage}; the {count} events before that were read."),
    to_translate("And {count} more are not whole."),
    to_translate("and {count} more:"),
};
constexpr std::array kLosses = {
    to_translate("{count} record dropped"),
    to_translate("{count} records dropped"),
    to_translate("{count} record invalid"),
    to_translate("{count} records invalid"),
    to_translate("{count} CUPTI buffer lost"),
    to_translate("{count} CUPTI buffers lost"),
    to_translate("{count} event had no room in the file"),
    to_translate("{count} events had no room in the file"),
    to_translate("{count} recording not whole"),
    to_translate("{count} recordings not whole"),
    to_translate("{count} Python stack dropped"),
    to_translate("{count} Python stacks dropped"),
    to_translate("{count} PC sample dropped"),
    to_translate("{count} PC samples dropped"),
    to_translate("{count} full buffer of PC samples lost more"),
    to_translate("{count} full buffers of PC samples lost more"),
    to_translate("what came once the file was full"),
    to_translate("processes could not be followed"),
    to_translate("{count} warning says what else is missing"),
    to_translate("{count} warnings say what else is missing"),
    to_translate("not all of it could be read"),
    to_translate("the recording was cut off"),
};

}  // namespace

Message condition_message(std::string_view sentences) { return known_parts(sentences, kSentences, " ", followed_by); }

Message completeness_message(std::string_view text) {
  constexpr std::string_view kIncomplete = "incomplete: ";
  if (text.starts_with("complete but for")) return Message(to_translate("complete but for rows that were left out by choice"));
  if (!text.starts_with(kIncomplete)) return Message(text);
  return Message("incomplete: {list}", {{"list", known_parts(text.substr(kIncomplete.size()), kLosses, ", ", listed)}});
}

}  // namespace lanescope::ui
