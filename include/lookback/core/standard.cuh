// SPDX-License-Identifier: MIT
// std::min, std::max, std::plus, std::iterator_traits, std::mutex and std::lock_guard.
// <functional>, <algorithm> and <mutex> have them, and 19,000 lines more that every translation
// unit would read three times (g++ 12, nvcc 13.0). If the library has smaller internal headers for
// them, those are included instead.
#pragma once

#include <cstddef>

#if __has_include(<bits/stl_algobase.h>) && __has_include(<bits/stl_function.h>) && \
    __has_include(<bits/std_mutex.h>)
#include <bits/std_mutex.h>
#include <bits/stl_algobase.h>
#include <bits/stl_function.h>
#else
#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#endif
