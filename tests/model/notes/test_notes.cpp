// Notes are text that people write by hand: what is understood comes back unchanged, and the rest stays in the file.
#include <random>

#include "model/notes/notes.h"
#include "support/catch.h"

using namespace lanescope;

TEST_CASE("notes are read as they were written") {
  Notes notes;
  notes.notes = {{-1, "before the recording"},
                 {0, ""},
                 {1'500'000'000, "two\nlines\tand a \\ backslash \\n"},
                 {86'400'000'000'001, "Zeit für Tee ☕ 时间线"},
                 {86'400'000'000'001, "another one at the same time"}};
  notes.other_lines = {"# written by hand", "see the wiki"};
  notes.utc_epoch = 1'764'349'353'000'000'001;
  const std::string text = format_notes(notes, "run.trace");
  const Notes again = parse_notes(text);
  CHECK(again.notes == notes.notes);
  CHECK(again.other_lines == notes.other_lines);
  CHECK(again.utc_epoch == notes.utc_epoch);
  CHECK(format_notes(again, "run.trace") == text);
}

TEST_CASE("a line that says no time of a recording is a line like others") {
  const Notes notes = parse_notes("# Of the recording that began yesterday\n0.5 here\n");
  CHECK(notes.utc_epoch == 0);
  CHECK(notes.other_lines == std::vector<std::string>{"# Of the recording that began yesterday"});
  CHECK(notes.notes == std::vector<Note>{{500'000'000, "here"}});
}

TEST_CASE("what two people change in the same notes is all there") {
  const auto notes = [](std::vector<Note> of) {
    Notes made;
    made.notes = std::move(of);
    return made;
  };
  const Notes base = notes({{1, "a"}, {2, "b"}, {3, "c"}});
  Notes theirs = notes({{1, "a"}, {2, "their words"}, {3, "c"}, {4, "theirs"}});
  theirs.other_lines = {"# by hand"};
  // In my version c is gone, one note is new, and one has other words.
  const Notes merged = merge_notes(base, {{1, "my words"}, {2, "b"}, {5, "mine"}}, theirs);
  CHECK(merged.notes == std::vector<Note>{{1, "my words"}, {2, "their words"}, {4, "theirs"}, {5, "mine"}});
  CHECK(merged.other_lines == theirs.other_lines);
  CHECK(merge_notes(base, base.notes, theirs).notes == theirs.notes);
  CHECK(merge_notes(base, {{9, "x"}}, base).notes == std::vector<Note>{{9, "x"}});
  CHECK(merge_notes(base, {{4, "theirs"}, {1, "a"}, {2, "b"}, {3, "c"}}, theirs).notes == theirs.notes);  // two equal notes become one
}

TEST_CASE("a note that is too long is cut, and said to be") {
  const std::string longest(kLongestNote, 'x');
  CHECK(parse_notes("1 " + longest).left_out == 0);
  const Notes cut = parse_notes("1 " + longest + "y");
  CHECK(cut.notes == std::vector<Note>{{1'000'000'000, longest}});
  CHECK(cut.left_out == 1);
  const Notes between = parse_notes("1 " + std::string(kLongestNote - 1, 'x') + "é");  // not within a character
  CHECK(between.notes == std::vector<Note>{{1'000'000'000, std::string(kLongestNote - 1, 'x')}});
}

// Each of these bytes becomes a character of three.
TEST_CASE("a note that is too long only once it can be shown is cut as well, and can be written and read") {
  const Notes notes = parse_notes("1 " + std::string(kLongestNote, '\xe4'));
  REQUIRE(notes.notes.size() == 1);
  CHECK(notes.notes[0].text.size() == kLongestNote / 3 * 3);
  CHECK(notes.left_out == 1);
  const Notes again = parse_notes(format_notes(notes, "t"));
  CHECK(again.notes == notes.notes);
  CHECK(again.left_out == 0);
}

TEST_CASE("the stored text of a note is what is read after it was written") {
  struct Case {
    std::string text;
    std::string stored;
  };
  for (const Case& each : std::vector<Case>{{"plain", "plain"},
                                            {"  spaces around  ", "spaces around"},
                                            {"\tand\n", "\tand\n"},
                                            {"of\r\nWindows", "of\nWindows"},
                                            {" ", ""},
                                            {"\x1b[2J", "\\u001b[2J"},
                                            {"a \\ b", "a \\ b"},
                                            {std::string(kLongestNote - 1, 'x') + " y", std::string(kLongestNote - 1, 'x')}}) {
    CAPTURE(each.text);
    CHECK(stored_text(each.text) == each.stored);
    CHECK(stored_text(each.stored) == each.stored);
    Notes notes;
    notes.notes = {{1, each.text}};
    CHECK(parse_notes(format_notes(notes, "t")).notes == std::vector<Note>{{1, each.stored}});
  }
}

TEST_CASE("a line that somebody wrote by hand is a time in seconds and a text") {
  const Notes notes = parse_notes("2 later\r\n  0.5\tfirst  \n1.25\n\n1e3 no time\n1.x\n.5\n1.\n-\n7up\n0.1234567891 more digits than there are\n");
  CHECK(notes.notes == std::vector<Note>{{123'456'789, "more digits than there are"}, {500'000'000, "first"}, {1'250'000'000, ""}, {2'000'000'000, "later"}});
  CHECK(notes.other_lines == std::vector<std::string>{"1e3 no time", "1.x", ".5", "1.", "-", "7up"});
}

TEST_CASE("whatever a file of notes says, it is read in bounds and can be written again") {
  for (const std::string& text :
       {std::string(), std::string("\0\0\n1 \0x", 7), std::string("99999999999999999999 far"), std::string("-99999999999 before"),
        std::string("1 ") + std::string(1u << 20, 'x'), std::string("1 \xff\xfe\x1b[2J"), std::string(1u << 20, '\n'), std::string("1 \\")}) {
    const Notes notes = parse_notes(text);
    for (const Note& note : notes.notes) {
      CHECK(note.text.size() <= kLongestNote);
      CHECK(note.text.find('\x1b') == std::string::npos);
      CHECK(is_near(note.time));
    }
    const Notes again = parse_notes(format_notes(notes, "a\nb"));
    CHECK(again.notes == notes.notes);
    CHECK(again.left_out == 0);
  }
  std::string many;
  for (std::size_t i = 0; i < kMostNotes + 5; ++i) many += std::to_string(i) + " note\n";
  CHECK(parse_notes(many).notes.size() == kMostNotes);
  CHECK(parse_notes(many).left_out == 5);
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (int i = 0; i < 200; ++i) text.push_back("0123456789.-\\nt# \t\n\xc3\xa4"[random() % 21]);
    const Notes once = parse_notes(text), twice = parse_notes(format_notes(once, "t"));
    CHECK(once.notes == twice.notes);
    CHECK(once.other_lines == twice.other_lines);
  }
}
