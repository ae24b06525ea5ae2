// Runs Google's Snappy and the reference implementation of zstd. Their shared libraries, which most systems have, are loaded
// by name at run time, so no headers are needed.
//
//   version CODEC                      prints the library's version, or fails
//   encode CODEC LEVEL                 input: contents, each preceded by its length; output: their streams in the same form
//   decode CODEC MAX_BYTES             input: streams; output for each: u8, 1 if it is valid; then its contents
//   time encode CODEC LEVEL ROUNDS     input: contents; prints the nanoseconds per item in the fastest round
//   time decode CODEC MAX_BYTES ROUNDS
//
// CODEC: snappy, zstd. Lengths are u32, little-endian. Snappy has no levels. For zstd, LEVEL can include settings:
// +100 for a content checksum, +200 for no content size, +400 for a window of 1 KiB.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<char>;

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

void* Load(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW)) return library;
  }
  Fail(std::string("cannot load ") + *names.begin());
}

template <typename Function>
Function* Find(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) Fail(std::string("no ") + name);
  return reinterpret_cast<Function*>(symbol);
}

struct Codec {
  std::string version;
  // Compresses the first argument into the second. Returns the length of the stream.
  std::function<size_t(const Bytes&, Bytes&, int level)> encode;
  // Decompresses the first argument into the second, and sets the third to the length of the contents. Returns whether the
  // stream is valid.
  std::function<bool(const Bytes&, Bytes&, size_t&)> decode;
};

// snappy-c.h
Codec Snappy() {
  void* library = Load({"libsnappy.so.1", "libsnappy.so", "libsnappy.1.dylib", "libsnappy.dylib"});
  auto* compress = Find<int(const char*, size_t, char*, size_t*)>(library, "snappy_compress");
  auto* max_length = Find<size_t(size_t)>(library, "snappy_max_compressed_length");
  auto* uncompress = Find<int(const char*, size_t, char*, size_t*)>(library, "snappy_uncompress");
  auto* length_of = Find<int(const char*, size_t, size_t*)>(library, "snappy_uncompressed_length");
  return {
      "loaded",
      [=](const Bytes& contents, Bytes& stream, int) {
        stream.resize(max_length(contents.size()));
        size_t length = stream.size();
        if (compress(contents.data(), contents.size(), stream.data(), &length) != 0) Fail("snappy_compress failed");
        return length;
      },
      [=](const Bytes& stream, Bytes& contents, size_t& length) {
        size_t declared = 0;
        if (length_of(stream.data(), stream.size(), &declared) != 0 || declared > contents.size()) return false;
        length = contents.size();
        return uncompress(stream.data(), stream.size(), contents.data(), &length) == 0;
      },
  };
}

// zstd.h
Codec Zstd() {
  void* library = Load({"libzstd.so.1", "libzstd.so", "libzstd.1.dylib", "libzstd.dylib"});
  auto* bound = Find<size_t(size_t)>(library, "ZSTD_compressBound");
  auto* create = Find<void*()>(library, "ZSTD_createCCtx");
  auto* set = Find<size_t(void*, int, int)>(library, "ZSTD_CCtx_setParameter");
  auto* compress = Find<size_t(void*, void*, size_t, const void*, size_t)>(library, "ZSTD_compress2");
  auto* decompress = Find<size_t(void*, size_t, const void*, size_t)>(library, "ZSTD_decompress");
  auto* is_error = Find<unsigned(size_t)>(library, "ZSTD_isError");
  auto* version = Find<const char*()>(library, "ZSTD_versionString");
  void* context = create();
  return {
      version(),
      [=](const Bytes& contents, Bytes& stream, int level) {
        const int kCompressionLevel = 100, kWindowLog = 101, kContentSizeFlag = 200, kChecksumFlag = 201;
        const int settings = level / 100;
        set(context, kCompressionLevel, level % 100);
        set(context, kChecksumFlag, settings & 1);
        set(context, kContentSizeFlag, !(settings & 2));
        set(context, kWindowLog, settings & 4 ? 10 : 0);
        stream.resize(bound(contents.size()));
        size_t length = compress(context, stream.data(), stream.size(), contents.data(), contents.size());
        if (is_error(length)) Fail("ZSTD_compress2 failed");
        return length;
      },
      [=](const Bytes& stream, Bytes& contents, size_t& length) {
        length = decompress(contents.data(), contents.size(), stream.data(), stream.size());
        return !is_error(length);
      },
  };
}

Codec CodecOf(const std::string& name) {
  if (name == "snappy") return Snappy();
  if (name == "zstd") return Zstd();
  Fail("no codec " + name);
}

std::vector<Bytes> ReadAll() {
  std::string input;
  char part[1 << 16];
  while (size_t n = std::fread(part, 1, sizeof part, stdin)) input.append(part, n);
  std::vector<Bytes> all;
  for (size_t at = 0; at < input.size();) {
    uint32_t length;
    std::memcpy(&length, &input[at], 4);
    all.emplace_back(input.begin() + at + 4, input.begin() + at + 4 + length);
    at += 4 + length;
  }
  return all;
}

void Write(const char* bytes, size_t length) {
  const uint32_t prefix = length;
  std::fwrite(&prefix, 1, 4, stdout);
  std::fwrite(bytes, 1, length, stdout);
}

// Nanoseconds per call in the fastest round.
double Time(size_t calls, int rounds, const std::function<void()>& round) {
  double best = 1e300;
  for (int i = 0; i < rounds; i++) {
    const auto start = std::chrono::steady_clock::now();
    round();
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  return best / calls;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool is_timed = !arguments.empty() && arguments[0] == "time";
  if (is_timed) arguments.erase(arguments.begin());
  if (arguments.empty()) return 0;
  if (arguments.size() < 2) Fail("usage: reference-codec COMMAND CODEC ...");
  const Codec codec = CodecOf(arguments[1]);
  if (arguments[0] == "version") {
    std::printf("%s", codec.version.c_str());
    return 0;
  }
  const long number = arguments.size() > 2 ? std::atol(arguments[2].c_str()) : 0;
  const int rounds = is_timed ? std::atoi(arguments.at(3).c_str()) : 0;
  const std::vector<Bytes> all = ReadAll();
  if (arguments[0] == "encode") {
    Bytes stream;
    const auto each = [&](bool is_written) {
      for (const Bytes& contents : all) {
        const size_t length = codec.encode(contents, stream, number);
        if (is_written) Write(stream.data(), length);
      }
    };
    if (is_timed) std::printf("%.1f", Time(all.size(), rounds, [&] { each(false); }));
    else each(true);
  } else if (arguments[0] == "decode") {
    Bytes contents(number);
    const auto each = [&](bool is_written) {
      for (const Bytes& stream : all) {
        size_t length = 0;
        const bool is_accepted = codec.decode(stream, contents, length);
        if (!is_written) continue;
        std::fputc(is_accepted, stdout);
        Write(contents.data(), is_accepted ? length : 0);
      }
    };
    if (is_timed) std::printf("%.1f", Time(all.size(), rounds, [&] { each(false); }));
    else each(true);
  } else {
    Fail("no command " + arguments[0]);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
