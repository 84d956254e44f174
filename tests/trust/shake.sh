#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shakes the kernels on a GPU, from the repository's root, and writes what it found to tests/trust/results/<gpu>.csv:
#
#   tests/trust/shake.sh [BUILD]     BUILD: the build directory, with the tests built; build/ if not given
#
#   LOOKBACK_SOAK_LAUNCHES           launches of the soak, in two processes together (1000000)
#   LOOKBACK_SHAKE_SECONDS           what one program may take under one tool of compute-sanitizer (100)
#   LOOKBACK_COMMIT                  where there is no git
#
# Under the four tools of compute-sanitizer, without suppressions: a short soak (all types, paths, alignments, streams, in
# place, dawdling blocks), graphs and host threads that collide, by key, a type that copies itself, the pipeline's ring coming round,
# and every strategy of the catalogue. What does not end in time is counted as not covered, never as clean.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
build=${1:-build}
launches=${LOOKBACK_SOAK_LAUNCHES:-1000000}
seconds=${LOOKBACK_SHAKE_SECONDS:-100}
logs=$build/shake
rm -rf "$logs"
mkdir -p "$logs" tests/trust/results

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
[ -n "$gpu" ] || { echo "shake.sh: no GPU" >&2; exit 1; }
commit=${LOOKBACK_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
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
  LOOKBACK_SOAK_LAUNCHES=$((launches / 2)) "$build/tests/trust/trust.soak" >"$logs/soak.$process.log" 2>&1 &
done
wait
grep -h -E '^soak:|^  launch|replay' "$logs"/soak.*.log
done_launches=$(sum_of 's/^soak: launches ([0-9]+), .*/\1/p' "$logs"/soak.*.log)
reports=$(grep -h -c '^soak: ' "$logs"/soak.*.log | awk '{ sum += $1 } END { print sum }')
hangs=$(sum_of 's/^soak: .*hangs ([0-9]+).*/\1/p' "$logs"/soak.*.log)
mismatches=$(sum_of 's/^soak: .*mismatches ([0-9]+).*/\1/p' "$logs"/soak.*.log)
[ "$reports" -eq 2 ] || hangs=unknown mismatches=unknown # a process ended without a word
row "soak in two processes: launches" "$done_launches" "$launches" "$done_launches" -ge "$launches"
row "soak in two processes: hangs" "$hangs" 0 "$hangs" = 0
row "soak in two processes: mismatches" "$mismatches" 0 "$mismatches" = 0

# ---- compute-sanitizer ----------------------------------------------------------------------------------------------------
# A line each: program, then what doctest is told.
programs=(
  "trust/trust.soak"
  "trust/trust.concurrency -tc=captured*,host?threads?on?streams*"
  "device/device.by_key -tc=*without?a?default*"
  "device/device.types -tc=*trivially*"
  "device/device.paths -tc=*ring?comes?round*"
  "catalogue/catalogue.doors"
)
# shellcheck disable=SC2317 # called by xargs
sanitize() { # SECONDS TOOL PROGRAM LOG
  local limit=$1 tool=$2 log=$4
  read -ra command <<<"$3"
  LOOKBACK_SOAK_LAUNCHES=150 timeout "$limit" compute-sanitizer --tool "$tool" "$build/tests/${command[0]}" "${command[@]:1}" >"$log" 2>&1
  echo "exit status $?" >>"$log"
}
export -f sanitize
export build
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    for i in "${!programs[@]}"; do
      printf '%s\0%s\0%s\0%s\0' "$seconds" "$tool" "${programs[i]}" "$logs/$tool.$i.log"
    done
  done | xargs -0 -n 4 -P 8 bash -c 'sanitize "$@"' sanitize
fi
for tool in memcheck racecheck initcheck synccheck; do
  covered=0
  for i in "${!programs[@]}"; do
    if grep -q -E 'ERROR SUMMARY: |RACECHECK SUMMARY: ' "$logs/$tool.$i.log" 2>/dev/null && grep -q 'Status: ' "$logs/$tool.$i.log"; then
      covered=$((covered + 1))
    else
      echo "$tool: not covered: ${programs[i]}: $(tail -2 "$logs/$tool.$i.log" 2>&1 | tr '\n' ' ')"
    fi
  done
  # The summary, and what racecheck says of blocks that may not be there, in case its summary leaves that out.
  findings=$(cat "$logs/$tool".*.log 2>/dev/null |
    sum_of 's/.*(ERROR|RACECHECK) SUMMARY: ([0-9]+) .*/\2/p; s/^========= Potential invalid .*/1/p' -)
  [ "$covered" -gt 0 ] || findings=unknown
  row "compute-sanitizer $tool: findings" "$findings" 0 "$findings" = 0
  row "compute-sanitizer $tool: programs covered" "$covered" "${#programs[@]}" "$covered" -eq "${#programs[@]}"
  grep -h -A 12 -E '========= (Invalid|Uninitialized|Error|Warning|Barrier|Potential)' "$logs/$tool".*.log 2>/dev/null | head -40
done

# ---- single figures -------------------------------------------------------------------------------------------------------
"$build/tests/trust/trust.allocation_failures.gpu" >"$logs/allocation_failures.log" 2>&1
leaked=$(sed -nE 's/^allocation failures: .* ([0-9]+) bytes leaked/\1/p' "$logs/allocation_failures.log")
row "bytes leaked after injected failures" "${leaked:-unknown}" 0 "${leaked:-1}" -eq 0

"$build/tests/doors/doors.bad_input" -tc='in capture*' >"$logs/capture.log" 2>&1
if grep -q '1 passed | 0 failed' "$logs/capture.log"; then calls=0; else calls=some; fi
row "cudaMalloc calls and synchronisations under capture" "$calls" 0 "$calls" = 0

"$build/tests/device/device.many_elements" -s >"$logs/many_elements.log" 2>&1
if grep -q ' 0 failed' "$logs/many_elements.log"; then
  elements=$(sed -nE 's/.*n = ([0-9]+).*/\1/p' "$logs/many_elements.log" | sort -n | tail -1)
fi
row "largest n verified (1-byte type)" "${elements:-0}" "above 8589934592" "${elements:-0}" -gt 8589934592

echo "written to $results, logs in $logs"
exit $failed
