#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that lookback's build needs and that dpkg does not list as installed.
# With nothing missing it reads the package database and touches no network.
set -euo pipefail

packages=(cmake g++ ninja-build doctest-dev libbenchmark-dev libtbb-dev python3 spin clang libclang-rt-dev)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "set_up.sh: this is not a Debian or Ubuntu system; install the counterparts of: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -eq 0 ]; then
  echo "set_up.sh: nothing to install"
else
  echo "set_up.sh: installing with apt-get: ${missing[*]}"
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "set_up.sh: neither root nor sudo; run as root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"
fi

# CMake looks in the same places (cmake/lookback_cuda.cmake).
for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc; do
  if [ -n "$nvcc" ] && [ -x "$nvcc" ]; then
    echo "set_up.sh: CUDA compiler: $nvcc"
    exit 0
  fi
done
cat >&2 <<'MESSAGE'
set_up.sh: no CUDA compiler: nvcc is neither in PATH nor in /usr/local/cuda/bin.
lookback needs the CUDA toolkit 13.0 or newer (https://developer.nvidia.com/cuda-downloads).
With the toolkit elsewhere, set CUDACXX to its nvcc.
MESSAGE
exit 1
