// SPDX-License-Identifier: MIT
// The two phases of a call at the CUB-shaped door, with temporary storage that is poisoned, guarded
// and, on request, misaligned.
#pragma once

#include <support/buffers.cuh>

namespace test {

/// `call(temporary, bytes)` is either phase.
template <class Call>
void two_phases(Call call, std::size_t misalignment = 0) {
  std::size_t bytes = 0;
  REQUIRE_CUDA(call(nullptr, bytes));
  guarded_buffer<unsigned char> temporary(bytes, misalignment);
  const std::size_t promised = bytes;
  REQUIRE_CUDA(call(temporary.data(), bytes));
  CHECK_EQ(bytes, promised);
  REQUIRE_CUDA(cudaDeviceSynchronize());
  CHECK(temporary.guards_intact());
}

} // namespace test
