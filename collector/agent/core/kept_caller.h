// Instructions of functions that stand before others, and continue with them without being seen: those look at who called them, or return twice.
#pragma once

#if defined(__x86_64__)

// Each macro is a part of the text of an __asm__() outside of functions: first LANESCOPE_CODE, then labels, one jump, and the ends of these labels.
#define LANESCOPE_CODE "  .text\n  .p2align 4\n"
#define LANESCOPE_LABEL_OF_ALL(label) "  .globl " label "\n  .type " label ", @function\n" label ":\n"
#define LANESCOPE_LABEL_OF_LIBRARY(label) "  .hidden " label "\n" LANESCOPE_LABEL_OF_ALL(label)
#define LANESCOPE_END_OF_LABEL(label) "  .size " label ", .-" label "\n"

#define LANESCOPE_PUSH(word) "  pushq %" word "\n  .cfi_adjust_cfa_offset 8\n"
#define LANESCOPE_POP(word) "  popq %" word "\n  .cfi_adjust_cfa_offset -8\n"
#define LANESCOPE_PUSH_ARGUMENTS \
  LANESCOPE_PUSH("rdi") LANESCOPE_PUSH("rsi") LANESCOPE_PUSH("rdx") LANESCOPE_PUSH("rcx") LANESCOPE_PUSH("r8") LANESCOPE_PUSH("r9")
#define LANESCOPE_POP_ARGUMENTS LANESCOPE_POP("r9") LANESCOPE_POP("r8") LANESCOPE_POP("rcx") LANESCOPE_POP("rdx") LANESCOPE_POP("rsi") LANESCOPE_POP("rdi")

// Calls `choose` with the arguments (System V ABI, at most six words), and jumps to the function that it returns, which finds the stack and the arguments as
// the caller left them. `prepare`: instructions that come first, or "".
#define LANESCOPE_JUMP_TO_CHOSEN(choose, prepare)                                                                                \
  "  .cfi_startproc\n  endbr64\n" prepare LANESCOPE_PUSH_ARGUMENTS "  subq $8, %rsp\n  .cfi_adjust_cfa_offset 8\n  call " choose \
  "\n  addq $8, %rsp\n  .cfi_adjust_cfa_offset -8\n" LANESCOPE_POP_ARGUMENTS "  jmp *%rax\n  .cfi_endproc\n"

#endif
