#!/bin/bash
# The cost of recording for programs that use all processors: a table of each way of recording compared with no recording, and with nsys if it is installed.
#
#   saturated.sh [-s SECONDS] [-w WORKLOAD,...] [-y WAY|...] [-n NSYS] [FOLDER]
#
# FOLDER (build/release) contains bin/lanescope, bin/lanescope-gpu-metrics and lib/liblanescope-agent.so. SECONDS is the total time, 360 by default. Workloads
# run in the order of importance (resnet18, resnet18-8, decoding, compile, jax, ddp), and those without time left are skipped. Needs a GPU whose monitors
# may be used, and python3 with torch; some workloads need JAX or transformers. A workload has one warm program for each way, one of which runs at
# a time, in a new random order in each round; GPU metrics are sampled beside the program that nobody records. WAY: only ways whose names contain such a text;
# with "GPU metrics", one program is started. The figures of each burst go to $OUT.
here=$(dirname "$(realpath "$0")")
seconds=360 workloads="" ways="" nsys=$(ls /opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys /usr/local/bin/nsys 2> /dev/null | head -1)
while getopts s:w:y:n: option; do
  case $option in s) seconds=$OPTARG ;; w) workloads=$OPTARG ;; y) ways=$OPTARG ;; n) nsys=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
folder=$(realpath "${1:-build/release}")
out=${OUT:-$(mktemp -d)}
export TMPDIR=${TMPDIR:-/var/tmp}
echo "$(nproc) processors, $(nvidia-smi -L 2> /dev/null | wc -l) GPUs, $(uname -r), load $(cut -d' ' -f1-3 /proc/loadavg); nsys: ${nsys:-none}"
exec python3 "$here/saturated.py" --folder "$folder" --seconds "$seconds" --raw "$out/saturated.tsv" ${workloads:+--workloads "$workloads"} \
  ${ways:+--ways "$ways"} ${nsys:+--nsys "$nsys"}
