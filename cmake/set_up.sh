#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bash cmake/set_up.sh          installs what the comparison and the tests need
# bash cmake/set_up.sh verify   the same, and what `cmake --workflow --preset verify` needs in addition
#
# Debian packages come from apt-get. Where there is no CUDA compiler, NVIDIA's own comes from PyPI, into build/cuda.
# Everything is named before it is downloaded; with nothing missing no network is used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "set_up.sh: $*"; }

packages=(cmake g++ ninja-build doctest-dev libbenchmark-dev libtbb-dev python3)
if [ "${1:-}" = verify ]; then
  packages+=(spin clang libclang-rt-dev doxygen python3-pip)
elif [ $# -gt 0 ]; then
  say "usage: bash cmake/set_up.sh [verify]" >&2
  exit 2
fi

# The packages among the arguments that dpkg does not list as installed.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep --quiet '^installed$' ||
      echo "$package"
  done
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing with apt-get: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "sudo is missing and this user is not root. Run as root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${missing[@]}"
}

# Prints the first CUDA compiler found; CMake looks in the same places (cmake/lookback_cccl.cmake).
find_nvcc() {
  local nvcc
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" \
    "${CUDA_PATH:+$CUDA_PATH/bin/nvcc}" /usr/local/cuda/bin/nvcc \
    build/cuda/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
    if [ -n "$nvcc" ] && [ -x "$nvcc" ] && "$nvcc" --version >/dev/null 2>&1; then
      echo "$nvcc"
      return
    fi
  done
}

# NVIDIA's packages of one version of the toolkit, the first of which has the headers of Thrust and CUB.
from_pypi=(nvidia-cuda-cccl==13.0.85 nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88
           nvidia-cuda-runtime==13.0.96)

# Installs packages of PyPI into the virtual environment build/cuda.
pip_install() { build/cuda/bin/python -m pip install --quiet --disable-pip-version-check "$@"; }

install_cuda_from_pypi() {
  say "no CUDA compiler: nvcc is not in CUDACXX, PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda/bin."
  say "installing NVIDIA's compiler from PyPI into build/cuda (105 MB to download, 300 MB on disk): ${from_pypi[*]}"
  say "NVIDIA's licence applies to these packages. To use a CUDA toolkit instead, set CUDACXX or PATH."
  install_packages python3-venv ca-certificates
  rm -rf build/cuda
  python3 -m venv build/cuda || return 1
  if ! pip_install "${from_pypi[@]}"; then
    say "the compiler cannot be installed. Trying the headers, which lookback::host needs: ${from_pypi[0]}" >&2
    pip_install "${from_pypi[0]}"
    return 1
  fi
  # The compiler looks for its libraries in lib64, where the packages have lib.
  ln -sfn lib "$(echo build/cuda/lib/python3*/site-packages/nvidia/cu13)/lib64"
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  say "apt-get is missing, so no package is installed. Install the equivalents of: ${packages[*]}" >&2
else
  install_packages "${packages[@]}"
  if [ "${1:-}" = verify ]; then # every g++ and clang that the system offers, for lookback::host
    mapfile -t compilers < <(apt-cache --names-only search '^(g\+\+|clang)-[0-9]+$' | cut --delimiter=' ' --fields=1)
    install_packages "${compilers[@]}"
  fi
fi

nvcc=$(find_nvcc)
if [ -z "$nvcc" ]; then
  install_cuda_from_pypi || true
  nvcc=$(find_nvcc)
fi
if [ -n "$nvcc" ]; then
  say "CUDA compiler: $nvcc"
elif [ -d "$(echo build/cuda/lib/python3*/site-packages/nvidia/cu13/include/cccl)" ]; then
  say "no CUDA compiler runs on this machine: only lookback::host is built and tested." >&2
  say "To build the kernels, install the CUDA toolkit 13.0 (https://developer.nvidia.com/cuda-downloads)." >&2
else
  say "the CUDA compiler and the headers of Thrust are missing; lookback::host needs the headers." >&2
  say "Connect to PyPI and run this script again, or install the CUDA toolkit 13.0" >&2
  say "(https://developer.nvidia.com/cuda-downloads)." >&2
  exit 1
fi
say "ready"
