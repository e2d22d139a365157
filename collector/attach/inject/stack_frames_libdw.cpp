// Follows stacks by libdw (elfutils).
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "collector/attach/foreign_file.h"
#include "collector/attach/memory_map.h"
#include "inject/stack_frames.h"

namespace lanescope::attach {

struct StackFrames::Session {
  pid_t process = 0;
  const RemoteMemory* memory = nullptr;
  Dwfl* dwfl = nullptr;
  bool is_ready = false;
  pid_t thread = 0;  // the thread that is being followed
  user_regs_struct registers{};
  CallStack stack;

  // Callbacks of libdw; `argument` is the session.
  static int use_session(Dwfl_Module*, void** data, const char*, Dwarf_Addr, void* argument);
  static int find_elf(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, char** file_name, Elf** elf);
  static pid_t next_thread(Dwfl*, void* argument, void** thread_argument);
  static bool get_thread(Dwfl*, pid_t thread, void* argument, void** thread_argument);
  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument);
  static bool set_registers(Dwfl_Thread* thread, void* argument);
  static int add_frame(Dwfl_Frame* frame, void* argument);

  [[nodiscard]] bool lacks_tables(std::uint64_t address) const;
  enum class Name { kWanted, kLeftOut };
  [[nodiscard]] Frame describe(std::uint64_t address, Name wanted) const;
};

namespace {

constexpr std::size_t kMaximumFrames = 512;
constexpr std::size_t kNamedFrames = 16;  // the innermost ones: naming a frame scans all symbols of its file

constexpr std::string_view kRemoved = " (deleted)";  // the kernel appends it to the path of a file that has no name any more

// Opens a file that was removed or replaced since it was mapped. Mapped files can only be opened with additional rights; the process's executable can
// be opened by everyone who may inspect the process.
std::optional<ForeignFile> open_removed_file(pid_t process, const std::string& name, std::uint64_t begin) {
  const std::string of_process = "/proc/" + std::to_string(process);
  const std::vector<Mapping> map = read_memory_map(process).value_or(std::vector<Mapping>());
  const auto mapping = std::find_if(map.begin(), map.end(), [&](const Mapping& each) { return each.begin == begin && each.path == name; });
  if (mapping != map.end()) {
    char range[64];
    std::snprintf(range, sizeof(range), "/map_files/%" PRIx64 "-%" PRIx64, mapping->begin, mapping->end);
    if (std::optional<ForeignFile> file = open_file(of_process + range)) return file;
  }
  std::error_code unknown;
  if (std::filesystem::read_symlink(of_process + "/exe", unknown) != name) return std::nullopt;
  return open_file(of_process + "/exe");
}

// Unwind tables and symbols of the loaded files are sufficient.
int find_no_debug_information(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) { return -1; }

}  // namespace

int StackFrames::Session::use_session(Dwfl_Module*, void** data, const char*, Dwarf_Addr, void* argument) {
  *data = argument;
  return DWARF_CB_OK;
}

// Opens the file as the process sees it, which may be in another mount namespace. If there is no file (the vdso), libdw reads it from the process's
// memory.
int StackFrames::Session::find_elf(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, char** file_name, Elf** elf) {
  const auto* session = static_cast<const Session*>(*data);
  if (session == nullptr) return -1;
  if (name[0] == '/') {
    const bool is_removed = std::string_view(name).ends_with(kRemoved);
    std::optional<ForeignFile> file = is_removed ? open_removed_file(session->process, name, base) : std::nullopt;
    if (!file) file = open_file_of(session->process, name);
    if (!file) file = open_file(name);  // if it has changed its root, the kernel's map has paths from ours
    if (!file) return -1;
    *file_name = strdup(name);
    return dup(file->descriptor.get());
  }
  return dwfl_linux_proc_find_elf(module, data, name, base, file_name, elf);
}

pid_t StackFrames::Session::next_thread(Dwfl*, void* argument, void** thread_argument) {
  if (*thread_argument != nullptr) return 0;
  *thread_argument = argument;
  return static_cast<Session*>(argument)->thread;
}

bool StackFrames::Session::get_thread(Dwfl*, pid_t, void* argument, void** thread_argument) {
  *thread_argument = argument;
  return true;
}

bool StackFrames::Session::read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
  const auto word = static_cast<Session*>(argument)->memory->read<std::uint64_t>(address);
  if (!word) return false;
  *result = *word;
  return true;
}

bool StackFrames::Session::set_registers(Dwfl_Thread* thread, void* argument) {
  const user_regs_struct& r = static_cast<Session*>(argument)->registers;
  const Dwarf_Word in_dwarf_order[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  return dwfl_thread_state_registers(thread, 0, std::size(in_dwarf_order), in_dwarf_order);
}

int StackFrames::Session::add_frame(Dwfl_Frame* frame, void* argument) {
  auto& session = *static_cast<Session*>(argument);
  Dwarf_Addr address = 0;
  bool is_interrupted = false;  // else it is a return address, which follows the call
  if (!dwfl_frame_pc(frame, &address, &is_interrupted)) return DWARF_CB_ABORT;
  const Name name = session.stack.frames.size() < kNamedFrames ? Name::kWanted : Name::kLeftOut;
  session.stack.frames.push_back(session.describe(is_interrupted ? address : address - 1, name));
  if (session.lacks_tables(address)) return DWARF_CB_ABORT;
  return session.stack.frames.size() < kMaximumFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// True for code of a file that has tables but could not be opened. The next frame would be a guess from a register that most such code uses for other
// purposes, and could seem to be anywhere, for example in the loader. Code generated at run time, which keeps that register, belongs to no such file.
bool StackFrames::Session::lacks_tables(std::uint64_t address) const {
  Dwfl_Module* module = dwfl_addrmodule(dwfl, address);
  GElf_Addr bias = 0;
  Dwarf_Addr begin = 0;
  if (module == nullptr || dwfl_module_getelf(module, &bias) != nullptr ||
      dwfl_module_info(module, nullptr, &begin, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr)
    return false;
  const auto mark = memory->read<std::array<char, SELFMAG>>(begin);
  return mark && std::memcmp(mark->data(), ELFMAG, SELFMAG) == 0;
}

Frame StackFrames::Session::describe(std::uint64_t address, Name wanted) const {
  Frame frame{address, {}, {}};
  Dwfl_Module* module = dwfl_addrmodule(dwfl, address);
  if (module == nullptr) return frame;
  if (const char* file = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr)) frame.file = file;
  if (wanted == Name::kLeftOut) return frame;
  GElf_Off offset = 0;
  GElf_Sym symbol{};
  const char* name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name != nullptr && offset < symbol.st_size) frame.function = name;
  return frame;
}

StackFrames::StackFrames(pid_t process, const RemoteMemory& memory) : session_(std::make_unique<Session>()) {
  static const Dwfl_Callbacks kFileCallbacks{Session::find_elf, find_no_debug_information, nullptr, nullptr};
  static const Dwfl_Thread_Callbacks kThreadCallbacks{
      Session::next_thread, Session::get_thread, Session::read_memory, Session::set_registers, nullptr, nullptr};
  session_->process = process;
  session_->memory = &memory;
  session_->dwfl = dwfl_begin(&kFileCallbacks);
  if (session_->dwfl == nullptr || dwfl_linux_proc_report(session_->dwfl, process) != 0 || dwfl_report_end(session_->dwfl, nullptr, nullptr) != 0) return;
  dwfl_getmodules(session_->dwfl, Session::use_session, session_.get(), 0);
  session_->is_ready = dwfl_attach_state(session_->dwfl, nullptr, process, &kThreadCallbacks, session_.get());
}

StackFrames::~StackFrames() {
  if (session_->dwfl != nullptr) dwfl_end(session_->dwfl);
}

CallStack StackFrames::of(pid_t thread, const user_regs_struct& registers) {
  session_->thread = thread;
  session_->registers = registers;
  session_->stack = {};
  if (session_->is_ready && dwfl_getthread_frames(session_->dwfl, thread, Session::add_frame, session_.get()) == 0)
    session_->stack.extent = StackExtent::kWhole;
  if (session_->stack.frames.empty()) session_->stack.frames.push_back({registers.rip, {}, {}});
  return std::move(session_->stack);
}

}  // namespace lanescope::attach
