#!/usr/bin/env bash
# command_pages.sh PAGES LANESCOPE: completions and man pages are made without a word from the shells and man that read them, and know every option
# that the help has.
set -euo pipefail
pages=$1 lanescope=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }
python3 "$pages" "$lanescope" "$folder"
bash=$folder/share/bash-completion/completions/lanescope zsh=$folder/share/zsh/vendor-completions/_lanescope fish=$folder/share/fish/vendor_completions.d/lanescope.fish
bash -n "$bash"
if command -v zsh >/dev/null; then zsh -n "$zsh"; fi
if command -v fish >/dev/null; then fish --no-execute "$fish"; fi

"$lanescope" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r command; do
  page=$folder/share/man/man1/lanescope-$command.1
  if command -v man >/dev/null; then
    warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "man $command: $warnings"
  fi
  # Each option stands in the left column of the help, after its short form or others where there are such.
  "$lanescope" "$command" --help | sed -nE 's/^  (-.*)/\1/p' | sed -E 's/  .*//' | grep -oE '(^|[ ,])--?[a-zA-Z][a-zA-Z0-9-]*' | tr -d ' ,' | while read -r option; do
    grep -qE "^    $command\) options='([^']* )?$option( [^']*)?' values" "$bash" || fail "bash: $command lacks $option"
    grep -q -- "$option" "$zsh" || fail "zsh: $command lacks $option"
    grep -qE "seen_subcommand_from $command'.* -[ls] ${option##*-}( |$)|seen_subcommand_from $command'.* -l ${option#--}( |$)" "$fish" || fail "fish: $command lacks $option"
    grep -qF -- "${option//-/\\-}" "$page" || fail "man: $command lacks $option"
  done
done

# What bash offers. Where the program's own completion takes over, nothing of ours is offered.
offered() {
  bash -c "compopt() { :; }; source '$bash'; COMP_WORDS=($1); COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1)); _lanescope; printf '%s\n' \"\${COMPREPLY[@]}\""
}
[ "$(offered 'lanescope prof')" = profile ] || fail "profile is not offered"
[ "$(offered 'lanescope profile --capture-range-')" = --capture-range-end ] || fail "options of profile are not offered"
[ "$(offered 'lanescope stats -r cuda_gpu_kern_g')" = cuda_gpu_kern_gb_sum ] || fail "reports are not offered"
[ -z "$(offered 'lanescope profile -o x ls --capture')" ] || fail "options are offered behind the program"
