#!/usr/bin/env bash
# bash bench/variants.sh BASE WORK: compiles and runs versions of headers, in turns. BASE: include/ without the candidates.
# Run in the root of a tree that has the candidates.
set -e
base=$1 work=$2 here=$PWD
mkdir -p "$work"
version() { rm -rf "$work/$1"; cp -r "${2:-$here/include}" "$work/$1"; }
warps=lookback/strategy/column_warps.cuh tuning=lookback/dispatch/tuning.cuh packed=lookback/tile/packed_segments.cuh axis=lookback/dispatch/axis_call.cuh
version base "$base"
version all
version h20; sed -i 's/blocks = 24;/blocks = 20;/' "$work/h20/$warps"
version h2; sed -i 's/if (sizeof(item) == 2 && rows < 16) return false;/if (sizeof(item) == 2 \&\& rows < 2) return false;/' "$work/h2/$warps"
version hb; sed -i 's/sizes::width, 1, 2 \* Band/sizes::width, 1, Band/' "$work/hb/$axis"
version always; sed -i 's/scattered != 0 || misaligned == 0 || !alike/scattered != 0 || !alike/' "$work/always/$packed"
! [ -d "$here/early" ] || version early "$here/early" # include/ of the branch early_batch
version w2; sed -i 's/window = sizeof(T) <= 32 ? groups_a_round : sizeof(T) <= 48 ? 3 : 2;/window = 2;/' "$work/w2/$tuning"
version s12 "$work/w2"; sed -i 's/struct_warps = team_of_structs == 1 ? 6 : 8;/struct_warps = team_of_structs == 1 ? 6 : team_of_structs == 2 ? 10 : 12;/' "$work/s12/$tuning"
version w1 "$work/w2"; sed -i 's/int window = 2;/int window = 1;/' "$work/w1/$tuning"
for v in h20:$warps h2:$warps hb:$axis always:$packed w2:$tuning s12:$tuning; do
  ! diff -q "$work/${v%%:*}/${v##*:}" "$work/all/${v##*:}" > /dev/null || { echo "no change in $v"; exit 1; }
done
build() { # version program flags...
  local v=$1 p=$2 name=$3; shift 3
  nvcc -std=c++17 -O3 -arch=sm_90a --extended-lambda -I"$work/$v" "$@" -o "$work/$name.$v" bench/$p.cu -Xptxas -v 2> "$work/$name.$v.log" ||
    { echo "failed: $name.$v"; tail -3 "$work/$name.$v.log"; }
}
for v in base all h20 h2 hb; do build $v columns columns & done
for v in base all; do build $v runs runs & build $v counts counts & done
for v in base all always early; do [ ! -d "$work/$v" ] || build $v segments segments & done
for v in base w2 s12 w1; do for n in 3 6 8 16; do build $v structs structs_$n -DSIZES=$n & done; done
wait
[ "${3:-}" = build ] && exit
for round in 1 2; do
  for v in base all h20 h2 hb; do echo "== columns $v"; "$work/columns.$v"; done
  for v in base all always early; do [ ! -x "$work/segments.$v" ] || { echo "== segments $v"; "$work/segments.$v"; }; done
  for v in base all; do echo "== runs $v"; "$work/runs.$v"; echo "== counts $v"; "$work/counts.$v"; done
  for n in 3 6 8 16; do for v in base w2 s12 w1; do echo "== structs $v"; "$work/structs_$n.$v"; done; done
done
