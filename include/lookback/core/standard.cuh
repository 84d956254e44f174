// SPDX-License-Identifier: MIT
// std::min, std::max, std::plus and std::iterator_traits. <functional> and <algorithm> have them, and
// 18,000 lines more that every translation unit would read three times (g++ 12, nvcc 13.0): where the
// library keeps them in headers of its own, those are read instead.
#pragma once

#include <cstddef>

#if __has_include(<bits/stl_algobase.h>) && __has_include(<bits/stl_function.h>)
#include <bits/stl_algobase.h>
#include <bits/stl_function.h>
#else
#include <algorithm>
#include <functional>
#include <iterator>
#endif
