#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs compute-sanitizer and a soak on a GPU, from the repository's root, and writes tests/trust/results/<gpu>.csv:
#
#   tests/trust/shake.sh [BUILD]     BUILD: the build directory, after `ctest -L gpu`; default: build
#
#   LOOKBACK_SOAK_LAUNCHES           launches of the soak, in two processes together; default: 1000000
#   LOOKBACK_SHAKE_SECONDS           time limit of one program under one tool of compute-sanitizer; default: 400
#   LOOKBACK_COMMIT                  the commit, if there is no git
#
# An interrupted run is resumed: programs that have ended for the same commit, with any result, are not run again.
#
# The four tools of compute-sanitizer run without suppressions over every GPU test that CTest knows, with fewer lengths and
# repetitions than CTest. The exceptions are below, each with its reason. A program that fails or exceeds its time limit counts as not
# covered.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
build=${1:-build}
launches=${LOOKBACK_SOAK_LAUNCHES:-1000000}
seconds=${LOOKBACK_SHAKE_SECONDS:-400}
logs=$build/shake
mkdir -p "$logs" tests/trust/results

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
[ -n "$gpu" ] || { echo "shake.sh: nvidia-smi finds no GPU; the kernels on the CPU are tested by ctest -R simt" >&2; exit 1; }
commit=${LOOKBACK_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
if [ -z "${LOOKBACK_COMMIT:-}" ] && ! git diff --quiet HEAD -- . ':!*/results/*' 2>/dev/null; then commit+=+changes; fi
case $commit in
  unknown* | *+changes) rm -f "$logs"/* ;;
  *) [ "$(cat "$logs/commit" 2>/dev/null)" = "$commit" ] || rm -f "$logs"/* ;;
esac
echo "$commit" >"$logs/commit"
results=tests/trust/results/$(echo "${gpu##* }" | tr '[:upper:]' '[:lower:]').csv
echo "figure,value,target,date,commit,driver" >"$results"
failed=0

# row FIGURE VALUE TARGET TEST...: TEST says, for test(1), whether the target is met.
row() {
  local figure=$1 value=$2 target=$3
  shift 3
  echo "$figure,$value,$target,$(date -u +%F),$commit,$driver" >>"$results"
  if test "$@" 2>/dev/null; then
    printf '%-72s %12s\n' "$figure" "$value"
  else
    printf '%-72s %12s   MISSED: %s\n' "$figure" "$value" "$target"
    failed=1
  fi
}
# Sum of what `sed -n` finds with the expression $1 in the files that follow.
sum_of() {
  local expression=$1
  shift
  sed -nE "$expression" "$@" | awk '{ sum += $1 } END { print sum + 0 }'
}

# ---- the soak, in two processes at once -----------------------------------------------------------------------------------
for process in 1 2; do
  grep -q '^soak: ' "$logs/soak.$process.log" 2>/dev/null ||
    LOOKBACK_SOAK_LAUNCHES=$((launches / 2)) "$build/tests/trust/trust.soak" >"$logs/soak.$process.log" 2>&1 &
done
wait
grep -h -E '^soak:|^  launch|replay' "$logs"/soak.*.log
done_launches=$(sum_of 's/^soak: launches ([0-9]+), .*/\1/p' "$logs"/soak.*.log)
reports=$(grep -h -c '^soak: ' "$logs"/soak.*.log | awk '{ sum += $1 } END { print sum }')
hangs=$(sum_of 's/^soak: .*hangs ([0-9]+).*/\1/p' "$logs"/soak.*.log)
mismatches=$(sum_of 's/^soak: .*mismatches ([0-9]+).*/\1/p' "$logs"/soak.*.log)
[ "$reports" -eq 2 ] || hangs=unknown mismatches=unknown # a process ended without its report
row "soak in two processes: launches" "$done_launches" "$launches" "$done_launches" -ge "$launches"
segmentations=$(sum_of 's/^soak: .*segmentations ([0-9]+).*/\1/p' "$logs"/soak.*.log)
wanted=$((launches / 10)) # 100,000 of the default million
row "soak in two processes: random segmentations" "$segmentations" "$wanted" "$segmentations" -ge "$wanted"
row "soak in two processes: hangs" "$hangs" 0 "$hangs" = 0
row "soak in two processes: mismatches" "$mismatches" 0 "$mismatches" = 0

# ---- compute-sanitizer ----------------------------------------------------------------------------------------------------
# Lines of name, program and arguments: CTest's programs of tests/, and those that it starts by other means.
suite() {
  ctest --test-dir "$build" -N -L gpu | sed -nE 's/^ *Test +#[0-9]+: ((bits|catalogue|device|doors|trust)\.[a-z_.]+)$/\1/p' |
    while read -r name; do
      case $name in
        # Their kernels trap on purpose, and the process cannot use the GPU afterwards.
        doors.sticky_error | trust.spin_bound) continue ;;
        bits.gpu) arguments="-tc=the?device*" ;; # the host's bits are compared without a GPU
        # The tools serialize kernels, and a kernel of these test cases runs until others have ended.
        trust.delays) arguments="-tce=*another?kernel?holds*,*kernel?waits?for?their*" ;;
        *) arguments= ;;
      esac
      echo "$name $build/tests/${name%%.*}/$name $arguments"
    done
  echo "examples.csr_offsets $build/tests/examples/csr_offsets.gpu"
  echo "examples.line_index $build/tests/examples/line_index.gpu $build/tests/examples/line_index.gpu"
  if [ -x "$build/verify/tests/consumer/package/gpu" ]; then # built by `verify`
    echo "consumer.package $build/verify/tests/consumer/package/gpu"
  fi
  echo "perf.pass_fail $build/perf/lookback_pass_fail lookback 25"
}
# shellcheck disable=SC2317 # called by xargs
sanitize() { # SECONDS TOOL NAME PROGRAM ARGUMENT...
  local limit=$1 tool=$2 log=$logs/$2.$3.log options=()
  grep -v '^exit status 124$' "$log" 2>/dev/null | grep -q '^exit status ' && return # 124: the time was up
  case $3 in # calls that fail on purpose; findings in kernels are still reported
    doors.bad_input | trust.allocation_failures.gpu | trust.few_multiprocessors) options=(--report-api-errors no) ;;
  esac
  # synccheck (2025.3) fails for clusters of more than 8 blocks if kernels of several streams run concurrently (see README.md).
  # Barriers concern a single kernel, so one kernel at a time is sufficient.
  local at_a_time=0
  [ "$tool" = synccheck ] && at_a_time=1
  # racecheck takes several times as long as the others.
  CUDA_LAUNCH_BLOCKING=$at_a_time LOOKBACK_SOAK_LAUNCHES=150 LOOKBACK_TEST_TRIALS=$([ "$tool" = racecheck ] && echo 1 || echo 2) \
    timeout "$limit" compute-sanitizer --tool "$tool" "${options[@]}" "${@:4}" >"$log" 2>&1
  echo "exit status $?" >>"$log"
}
export -f sanitize
export logs
mapfile -t all < <(suite)
# Programs that run after the others, one at a time: they measure the memory in use on the whole device.
alone='^(doors\.bad_input|doors\.execution_policy_captured|trust\.allocation_failures)'
# initcheck retains freed memory, which the test of exhausted memory reports as a leak. racecheck would take hours for 2^33
# elements. racecheck (2025.3) fails "to track a kernel launch" and hangs if several host threads synchronise one
# stream, for any kernel: one of three lines, or CUB's scan.
programs_of() { # TOOL PROGRAM...
  local without=()
  [ "$1" = initcheck ] && without=(-e '/^doors\.bad_input/s/$/-tce=*out?of?device?memory*/')
  [ "$1" = racecheck ] && without=(-e '/^device\.many_elements/d' -e '/^trust\.concurrency/s/$/-tce=*first?scan?of*,*on?one?stream/')
  printf '%s\n' "${@:2}" | sed -e '' "${without[@]}"
}
under_the_tools() { # PROCESSES [-v]: the programs that run alone, or all others
  for tool in racecheck initcheck memcheck synccheck; do
    programs_of "$tool" "${all[@]}" | grep "${@:2}" -E "$alone" | sed "s/^/$seconds $tool /"
  done | tr "\n" "\0" | xargs -0 -n 1 -P "$1" bash -c "set -f; sanitize \$0"
}
if command -v compute-sanitizer >/dev/null; then
  under_the_tools $(($(nproc) * 3 / 4)) -v
  under_the_tools 1
fi
for tool in memcheck racecheck initcheck synccheck; do
  covered=0 programs=0
  while read -r name _; do
    programs=$((programs + 1))
    if grep -q -E 'ERROR SUMMARY: |RACECHECK SUMMARY: ' "$logs/$tool.$name.log" 2>/dev/null &&
      grep -q '^exit status 0$' "$logs/$tool.$name.log"; then
      covered=$((covered + 1))
    else
      echo "$tool: not covered: $name: $(tail -2 "$logs/$tool.$name.log" 2>&1 | tr '\n' ' ')"
    fi
  done < <(programs_of "$tool" "${all[@]}")
  # The summary, and racecheck's reports of potentially invalid blocks, which its summary may omit.
  findings=$(cat "$logs/$tool".*.log 2>/dev/null |
    sum_of '/were not printed/d; s/.*(ERROR|RACECHECK) SUMMARY: ([0-9]+) .*/\2/p; s/^========= Potential invalid .*/1/p' -)
  [ "$covered" -gt 0 ] || findings=unknown
  row "compute-sanitizer $tool: findings" "$findings" 0 "$findings" = 0
  row "compute-sanitizer $tool: programs covered" "$covered" "$programs" "$covered" -eq "$programs"
  grep -h -A 12 -E '========= (Invalid|Uninitialized|Error|Warning|Barrier|Potential)' "$logs/$tool".*.log 2>/dev/null | head -40
done

# ---- single figures -------------------------------------------------------------------------------------------------------
"$build/tests/trust/trust.allocation_failures.gpu" >"$logs/allocation_failures.log" 2>&1
leaked=$(sed -nE 's/^allocation failures: .* ([0-9]+) bytes leaked/\1/p' "$logs/allocation_failures.log")
row "bytes leaked after injected failures" "${leaked:-unknown}" 0 "${leaked:-1}" -eq 0

{
  "$build/tests/doors/doors.bad_input" -tc='a call that synchronises can be captured*'
  "$build/tests/doors/doors.execution_policy_captured" -tc='a captured scan allocates nothing*'
} >"$logs/capture.log" 2>&1
if [ "$(grep -c '1 passed | 0 failed' "$logs/capture.log")" -eq 2 ]; then calls=0; else calls=some; fi
row "cudaMalloc calls and synchronisations under capture" "$calls" 0 "$calls" = 0

"$build/tests/device/device.many_elements" -s >"$logs/many_elements.log" 2>&1
if grep -q ' 0 failed' "$logs/many_elements.log"; then
  elements=$(sed -nE 's/.*n = ([0-9]+).*/\1/p' "$logs/many_elements.log" | sort -n | tail -1)
fi
row "largest n verified (1-byte type)" "${elements:-0}" "above 8589934592" "${elements:-0}" -gt 8589934592

echo "results: $results; logs: $logs"
exit $failed
