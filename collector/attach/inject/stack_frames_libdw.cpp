// Stacks by libdw (elfutils).
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstring>

#include "collector/attach/foreign_file.h"
#include "inject/stack_frames.h"

namespace lanescope::attach {

struct StackFrames::Session {
  pid_t process = 0;
  const RemoteMemory* memory = nullptr;
  Dwfl* dwfl = nullptr;
  bool is_ready = false;
  pid_t thread = 0;  // the one that is looked at
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

  [[nodiscard]] Frame describe(std::uint64_t address, bool with_name) const;
};

namespace {

constexpr std::size_t kMaximumFrames = 512;
constexpr std::size_t kNamedFrames = 16;  // the innermost ones: naming a frame takes a look at all symbols of its file

// Unwind tables and symbols of the loaded files themselves are enough.
int find_no_debug_information(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) { return -1; }

}  // namespace

int StackFrames::Session::use_session(Dwfl_Module*, void** data, const char*, Dwarf_Addr, void* argument) {
  *data = argument;
  return DWARF_CB_OK;
}

// The file as the process sees it, which may be in another mount namespace. What has no file (the vdso) libdw reads from its memory.
int StackFrames::Session::find_elf(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, char** file_name, Elf** elf) {
  const auto* session = static_cast<const Session*>(*data);
  if (session == nullptr) return -1;
  if (name[0] == '/') {
    std::optional<ForeignFile> file = open_file_of(session->process, name);
    if (!file) file = open_file(name);  // where it has changed its root, the kernel's map has paths from ours
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
  bool is_interrupted = false;  // else it is a return address, which lies behind the call
  if (!dwfl_frame_pc(frame, &address, &is_interrupted)) return DWARF_CB_ABORT;
  const bool with_name = session.stack.frames.size() < kNamedFrames;
  session.stack.frames.push_back(session.describe(is_interrupted ? address : address - 1, with_name));
  return session.stack.frames.size() < kMaximumFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

Frame StackFrames::Session::describe(std::uint64_t address, bool with_name) const {
  Frame frame{address, {}, {}};
  Dwfl_Module* module = dwfl_addrmodule(dwfl, address);
  if (module == nullptr) return frame;
  if (const char* file = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr)) frame.file = file;
  if (!with_name) return frame;
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
