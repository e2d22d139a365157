#!/usr/bin/env bash
# command_pages.sh PAGES LANESCOPE SHELL: this shell must read its completions without a message, they must contain every option of the help, and complete
# what is typed; for bash, also checks the man pages. Skipped (77) if the shell is not installed.
set -euo pipefail
pages=$1 lanescope=$2 shell=$3
command -v "$shell" >/dev/null || { echo "$shell is not installed: not tried"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }
python3 "$pages" "$lanescope" "$folder"
bash=$folder/share/bash-completion/completions/lanescope zsh=$folder/share/zsh/vendor-completions/_lanescope fish=$folder/share/fish/vendor_completions.d/lanescope.fish

bash_knows() { grep -qE "^    $1\) options='([^']* )?$2( [^']*)?' values" "$bash"; }
zsh_knows() { grep -q -- "$2" "$zsh"; }
fish_knows() { grep -qE "__lanescope_in $1'.* -[ls] ${2##*-}( |$)|__lanescope_in $1'.* -l ${2#--}( |$)" "$fish"; }
man_page() { echo "$folder/share/man/man1/lanescope-$1.1"; }

"$lanescope" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r command; do
  if [ "$shell" = bash ] && command -v man >/dev/null; then
    warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l "$(man_page "$command")" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "man $command: $warnings"
  fi
  # Each option is in the left column of the help, after its short form or other forms, if it has any.
  "$lanescope" "$command" --help | sed -nE 's/^  (-.*)/\1/p' | sed -E 's/  .*//' | grep -oE '(^|[ ,])--?[a-zA-Z][a-zA-Z0-9-]*' | tr -d ' ,' | while read -r option; do
    "${shell}_knows" "$command" "$option" || fail "$shell: $command lacks $option"
    [ "$shell" != bash ] || grep -qF -- "${option//-/\\-}" "$(man_page "$command")" || fail "man: $command lacks $option"
  done
done

# What each shell offers for the last of these words.
bash_offers() { bash -c "compopt() { :; }; source '$bash'; COMP_WORDS=($1); COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1)); _lanescope; printf '%s\n' \"\${COMPREPLY[@]}\""; }
fish_offers() { HOME=$folder XDG_CONFIG_HOME=$folder XDG_DATA_HOME=$folder fish -c "source '$fish'; complete -C '$1'" | cut -f1; }
# Typed into a zsh on a terminal: the Tab key completes, and the next one shows the line.
zsh_offers() {
  timeout 60 zsh -f -c '
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "fpath=($2 \$fpath); autoload -Uz compinit; compinit -u -d $3; shown() { print -r -- \"<<\$BUFFER>>\" }; zle -N shown; bindkey \"^X\" shown; print re\"\"ady"
    zpty -r -m shell output "*ready*"
    zpty -w -n shell "$1"$'"'\\t\\x18'"'
    zpty -r -m shell output "*<<*>>*"
    output=${${output##*<<}%%>>*}
    print -r -- ${${=output}[-1]}' zsh "$1" "${zsh%/*}" "$folder/dump"
}
becomes() {
  local offered
  offered=$("${shell}_offers" "$1")
  [ "$offered" = "$2" ] || fail "$shell: '$1' is completed to '$offered', not to '$2'"
}
[ "$shell" = bash ] && bash -n "$bash"
[ "$shell" = zsh ] && zsh -n "$zsh"
[ "$shell" = fish ] && fish --no-execute "$fish"
becomes 'lanescope prof' profile
becomes 'lanescope profile --capture-range-' "--capture-range-end$([ "$shell" = zsh ] && echo = || true)"
becomes 'lanescope stats -r cuda_gpu_kern_g' cuda_gpu_kern_gb_sum
if [ "$shell" = bash ]; then  # it passes = as a word of its own
  becomes 'lanescope stats --report = cuda_gpu_kern_g' cuda_gpu_kern_gb_sum
  becomes 'lanescope analyze --rule =' "$(bash_offers 'lanescope analyze --rule ""')"
fi
# After the program, the program's own completion takes over: nothing of ours is offered, only what the shell has for a program that it knows.
[ "$shell" = bash ] && becomes 'lanescope profile -o x ls --capture' ''
[ "$shell" = bash ] || becomes 'lanescope profile -o x --force-overwrite ls --almost-' --almost-all
