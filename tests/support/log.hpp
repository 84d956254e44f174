// SPDX-License-Identifier: MIT
// What lookback prints on stderr while LOOKBACK_LOG is set.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace test {

/// Before the first call of the program: the variable is read once.
inline const bool logs_calls = setenv("LOOKBACK_LOG", "1", 1) == 0;

/// What `call` prints on stderr.
template <class Call>
std::string printed_by(Call call) {
  std::FILE *const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  const int before = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  call();
  std::fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  std::string text;
  std::rewind(file);
  for (int next = std::fgetc(file); next != EOF; next = std::fgetc(file))
    text += static_cast<char>(next);
  std::fclose(file);
  return text;
}

} // namespace test
