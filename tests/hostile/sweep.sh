#!/usr/bin/env bash
# sweep.sh PROGRAMS [short]: makes hostile files of 10 MB, and recordings that were changed at random, and runs every command, and the viewer, on each. Prints a
# table of processor time and peak memory. Fails if one took more than 5 s or 1 GiB (and 2 us for each event that it wrote) or did not end by itself, or if a
# file of ours contained more events than its size allows. Takes hours; `short`, which ctest runs, tries some
# files with the commands that would take minutes to hours without their limits, and allows 60 s, so that no machine is too slow.
set -euo pipefail
programs=${1:?"Use: sweep.sh PROGRAMS [short]"}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bytes=9900000

# change COUNT SEED: makes so many changed recordings of small real ones, as logs and compacted.
change() {
  mkdir "$folder/whole"
  find "$here/../data" -name '*.trace' -size -150k -exec cp {} "$folder/whole" \;
  for log in "$folder"/whole/*.trace; do "$programs/lanescope" export -q -t trace -o "${log%.trace}-compacted.trace" "$log"; done
  "$programs/lanescope_changed_recordings" "$folder/changed" "$1" "$2" "$folder"/whole/*.trace >/dev/null
}

if [ "${2:-}" != short ]; then
  "$programs/lanescope_hostile_files" "$folder" "$bytes" >/dev/null
  python3 "$here/foreign_files.py" "$folder" "$bytes" >/dev/null
  mkdir "$folder/others"
  python3 "$here/other_inputs.py" "$folder/others" "$bytes" >/dev/null
  status=0
  python3 "$here/measure.py" --programs "$programs" --all "$folder"/*.* "$folder"/others/*.{fleet.json,notes,functions.json,command} || status=1
  seed=$RANDOM
  echo "changed recordings: seed $seed"
  change 500 "$seed"
  python3 "$here/measure.py" --programs "$programs" "$folder"/changed/* || status=1
  exit "$status"
fi
status=0
measure() {
  python3 "$here/measure.py" --programs "$programs" --all --seconds "$@" || status=1
}
try() {
  local commands=$1
  shift
  python3 "$here/foreign_files.py" "$folder" "$bytes" "$@" >/dev/null
  measure 60 --commands "$commands" "${@/#/$folder/}"
}
try_traces() {
  try_traces_for 20 "$@"
}
try_traces_for() {
  local seconds=$1 commands=$2
  shift 2
  "$programs/lanescope_hostile_files" "$folder" "$bytes" "$@" >/dev/null
  local files=("${@/#/$folder/}")
  measure "$seconds" --commands "$commands" "${files[@]/%/.trace}"
}
try info,analyze,trace processes.json
try analyze,diff streams.json overlapping_kernels.json
try chrome,sqlite,trace,csv deep_begins.json
try csv async_open.json overlapping_ranges.sqlite
try info,kernels kernels_of_nothing.csv kernels.csv.gz
try info long_domain_names.sqlite long_thread_names.sqlite
try report metric_types_of_gpus.sqlite labelled_gpus.json
try_traces report many_processes
try_traces chrome sampled_processes
try_traces chrome,json,csv,text measured_launches_of_a_long_name
try_traces sqlite deep_call_chains
try_traces_for 60 report,diff many_streams_of_own_names
try_traces info zero_kernels code_in_small_parts many_stall_reasons sampled_processes counted_instructions
try_traces analyze,report code_of_long_names code_of_long_symbols code_of_relocations code_of_long_folders
try_traces info labels_of_many_sessions long_executables long_gpu_names states_of_a_long_program kernels_left_out
try_traces kernels empty_launches many_metrics measured_launches_of_a_long_name measured_processes
try_traces stats,analyze,report extreme_values
try_traces rules ranges_open_on_many_gpus
try_traces analyze launches_in_deep_ranges slow_iterations_beside_readings
try info,import shared_calls_of_many_functions.sqlite shared_calls_in_circles.sqlite shared_calls_of_deep_chains.sqlite
try_traces diff,query texts_of_control_characters measured_launches_of_a_long_name
try_traces info,stats,trace compacted_counters_that_lie compacted_counters_beyond_limits compacted_single_counters
try_traces report,python counters_of_many_gpus counters_of_many_groups
try_traces python empty_texts empty_queues falling_marks kernels_of_many_dictionaries compacted_single_events
[ ! -x "$programs/lanescope-ui" ] || try_traces viewer long_output
change 8 1
measure 60 --commands info,rules,diff,sqlite,trace,query,report,kernels "$folder"/changed/*
if [ -x "$programs/lanescope-ui" ]; then
  python3 "$here/other_inputs.py" "$folder" "$bytes" controls lines_that_are_no_notes rows columns keys >/dev/null
  measure 20 "$folder"/*.notes "$folder"/*.fleet.json
fi
exit "$status"
