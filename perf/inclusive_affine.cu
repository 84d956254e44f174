// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

namespace {

struct affine {
  float slope, offset;
};

/// `a` first, then `b`: does not commute.
struct composition {
  __host__ __device__ affine operator()(affine a, affine b) const {
    return {a.slope * b.slope, a.offset * b.slope + b.offset};
  }
};

struct inclusive_affine : perf::call<affine> {
  static constexpr const char *name = "inclusive_affine";
  static std::string type() { return "f32x2"; }

  // Slopes of 1 and -1 and small integer offsets: every composition is exact, so every order of evaluation agrees.
  static __device__ affine element(long long, std::uint64_t random) {
    return {random & 1 ? 1.0f : -1.0f, static_cast<float>(static_cast<int>((random >> 1) % 9) - 4)};
  }

  template <class DeviceScan>
  static cudaError_t scan(void *temporary, std::size_t &size, perf::operands<affine, affine> o) {
    return DeviceScan::InclusiveScan(temporary, size, o.in, o.out, composition{}, o.n);
  }
};

} // namespace

void perf::add_inclusive_affine(std::vector<cell> &cells) { add<inclusive_affine>(cells); }
