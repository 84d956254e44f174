#!/usr/bin/env bash
# bash bench/variants.sh WORK VERSION=INCLUDE...: compiles bench/PROGRAM.cu (PROGRAMS, default columns) with each version of the
# headers, and runs them in two rounds. The hash in the last column must be the same in all versions.
set -e
work=$1; shift
programs=${PROGRAMS:-columns}
mkdir -p "$work"
for v in "$@"; do
  for p in $programs; do
    nvcc -std=c++17 -O3 -arch=sm_90a --extended-lambda -I"${v#*=}" -o "$work/$p.${v%%=*}" bench/$p.cu &
  done
done
wait
for round in 1 2; do
  for p in $programs; do for v in "$@"; do echo "== $p ${v%%=*}"; "$work/$p.${v%%=*}"; done; done
done
