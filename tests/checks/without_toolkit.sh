#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bash without_toolkit.sh SOURCE WORK
# Runs README's first command and the first tests of its second in a copy of SOURCE at WORK, on this machine without its
# CUDA toolkit: nvcc and the directories of a toolkit are hidden, in a mount namespace of this script's own, and the
# variables that name them are unset. Adds one test that nvcc compiles; the others would repeat, for ten minutes, what they
# do with a toolkit. Fails when a step fails, and when it did not use the compiler that set_up.sh took from PyPI.
# Then once more where that compiler cannot be had: the host system is still built and tested.
set -euo pipefail

if [ "${1:-}" != hidden ]; then
  # Root needs no namespace of users; others are root in their own, where the machine allows it.
  namespace=(unshare --mount)
  [ "$(id -u)" -eq 0 ] || namespace=(unshare --mount --map-root-user)
  if ! "${namespace[@]}" true; then
    echo "skipped: this machine does not let a process hide directories from itself (unshare --mount failed)"
    exit 0
  fi
  exec "${namespace[@]}" bash "${BASH_SOURCE[0]}" hidden "$@"
fi
source_dir=$2
work=$3

unset CUDACXX CUDA_HOME CUDA_PATH CUDAARCHS CPATH LIBRARY_PATH LD_LIBRARY_PATH
for toolkit in /usr/local/cuda*; do
  [ -L "$toolkit" ] || ! [ -d "$toolkit" ] || mount -t tmpfs hidden "$toolkit"
done
while nvcc=$(command -v nvcc) && [ -x "$nvcc" ]; do # over every nvcc of PATH a file that cannot be executed
  mount --bind /dev/null "$(readlink -f "$nvcc")"
  hash -r
done

rm -rf "$work"
mkdir -p "$work"
tar -C "$source_dir" --exclude=./build --exclude=./.git -cf - . | tar -C "$work" -xf -
cd "$work"
bash .ci/run first
cmake --build --preset first
ctest --preset first
cmake --build build --target doors.environment_answers
ctest --test-dir build --output-on-failure -R '^doors.environment_answers$'
if ! grep -q "CMAKE_CUDA_COMPILER:.*=$work/build/cuda/" build/CMakeCache.txt; then
  echo "the build does not use the compiler that set_up.sh installed:" >&2
  grep CMAKE_CUDA_COMPILER: build/CMakeCache.txt >&2 || echo "it uses no CUDA compiler" >&2
  exit 1
fi

echo "nvidia-nvvm == 0" > no_compiler.txt
rm -rf build
PIP_CONSTRAINT=$PWD/no_compiler.txt bash cmake/set_up.sh 2>&1 | tee set_up.log
grep -q "only lookback::host is built and tested" set_up.log
cmake --preset release
cmake --build build --target core.tree
ctest --test-dir build --output-on-failure -R '^core.tree$'
cd "$source_dir"
rm -rf "$work"
