// Counts absent numbers that match filters of the guide's policy and of LevelDB's, for each number of keys from 8 to 128. The keys are
// numbers of 16 digits, then big-endian numbers of 64 bits, as many and from the same range as in the table of `structured-keys --counts`.
// Prints the means of both rates and of the sizes for each kind, as `plain trial size`; exits with 1 if a stored key is lost.
#include <cstdint>
#include <cstdio>

#include "trial-policy.h"

static std::string digits_of(uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(number));
  return text;
}

static std::string big_endian_of(uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
  return bytes;
}

static int measure(std::string (*key_of)(uint64_t)) {
  const std::unique_ptr<const leveldb::FilterPolicy> plain(leveldb::NewBloomFilterPolicy(10));
  const TrialPolicy trial;
  double rates[2] = {0, 0};
  double bytes[2] = {0, 0};
  int sizes = 0;
  for (int n = 8; n <= 128; n++, sizes++) {
    unsigned state = n;
    long asked = 0;
    long matched[2] = {0, 0};
    while (asked < 10000) {
      state = state * 1103515245u + 12345u;
      const uint64_t start = asked == 0 ? 0 : 2 * static_cast<uint64_t>(state >> 6);
      std::vector<std::string> stored;
      for (int i = 0; i < n; i++) stored.push_back(key_of(start + 2 * i));
      const std::vector<leveldb::Slice> keys(stored.begin(), stored.end());
      std::string filters[2];
      plain->CreateFilter(keys.data(), n, &filters[0]);
      trial.CreateFilter(keys.data(), n, &filters[1]);
      for (int i = 0; i < n; i++, asked++) {
        // A reader without the policy uses LevelDB's.
        if (!plain->KeyMayMatch(keys[i], filters[1]) || !trial.KeyMayMatch(keys[i], filters[0])) return 1;
        for (int which = 0; which < 2; which++) matched[which] += plain->KeyMayMatch(key_of(start + 2 * i + 1), filters[which]);
      }
      for (int which = 0; which < 2; which++) bytes[which] += filters[which].size();
    }
    for (int which = 0; which < 2; which++) rates[which] += static_cast<double>(matched[which]) / asked;
  }
  std::printf("%f %f %f\n", rates[0] / sizes, rates[1] / sizes, bytes[1] / bytes[0]);
  return 0;
}

int main() { return measure(digits_of) || measure(big_endian_of); }
