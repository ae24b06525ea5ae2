// Builds, reads and probes tables and Bloom filters with the real LevelDB.
//
//   leveldb-table version                     the library's version, as text
//   leveldb-table build OUT [options]         stdin: entries            -> the file OUT
//   leveldb-table dump TABLE [options]                                  -> entries, in file order
//   leveldb-table get TABLE [options]         stdin: keys               -> u8 found, u32 length, value; for each key
//   leveldb-table offset TABLE [options]      stdin: keys               -> u64 approximate offset; for each key
//   leveldb-table filter BITS [options]       stdin: keys               -> the Bloom filter
//   leveldb-table may-match [options]         stdin: u32 length, filter, keys -> u8 answer; for each key
//
// entries: (u32 key length, key, u32 value length, value)*      keys: (u32 length, key)*
// Integers are little-endian.
//
//   --comparator bytewise|trailing-space      default bytewise
//   --block-size BYTES                        default 4096
//   --restart-interval KEYS                   default 16
//   --bits-per-key BITS | --no-filter         default --no-filter; get uses the table's filter only with BITS
//   --compression none|snappy                 default none
//
// Exit status: 0 done; 1 the caller's mistake; 2 LevelDB reported an error. Messages go to stderr.

#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/slice.h>
#include <leveldb/status.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using leveldb::Slice;
using leveldb::Status;

namespace {

[[noreturn]] void Misuse(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

void Check(const Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(2);
  }
}

Slice StripTrailingSpaces(const Slice& key) {
  size_t size = key.size();
  while (size > 0 && key[size - 1] == ' ') {
    size--;
  }
  return Slice(key.data(), size);
}

// "apple" and "apple  " are the same key.
class TrailingSpaceComparator : public leveldb::Comparator {
 public:
  const char* Name() const override { return "bloom.example.TrailingSpaceComparator"; }

  int Compare(const Slice& a, const Slice& b) const override {
    return StripTrailingSpaces(a).compare(StripTrailingSpaces(b));
  }

  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// Keys that are equal by the comparator must also be equal to the filter.
class TrailingSpacePolicy : public leveldb::FilterPolicy {
 public:
  explicit TrailingSpacePolicy(int bits_per_key)
      : bloom_(leveldb::NewBloomFilterPolicy(bits_per_key)) {}

  const char* Name() const override {
    return "bloom.example.TrailingSpace(leveldb.BuiltinBloomFilter2)";
  }

  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    std::vector<Slice> stripped;
    stripped.reserve(n);
    for (int i = 0; i < n; i++) {
      stripped.push_back(StripTrailingSpaces(keys[i]));
    }
    bloom_->CreateFilter(stripped.data(), n, dst);
  }

  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return bloom_->KeyMayMatch(StripTrailingSpaces(key), filter);
  }

 private:
  std::unique_ptr<const leveldb::FilterPolicy> bloom_;
};

struct Settings {
  leveldb::Options options;
  bool trailing_space = false;
  std::optional<int> bits_per_key;
};

std::unique_ptr<const leveldb::FilterPolicy> NewPolicy(const Settings& settings, int bits_per_key) {
  if (settings.trailing_space) {
    return std::make_unique<TrailingSpacePolicy>(bits_per_key);
  }
  return std::unique_ptr<const leveldb::FilterPolicy>(leveldb::NewBloomFilterPolicy(bits_per_key));
}

int ParseInt(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 0 || value > INT32_MAX) {
    Misuse(name + " takes a number, not \"" + text + "\"");
  }
  return static_cast<int>(value);
}

Settings ParseSettings(int argc, char** argv, int first) {
  static const TrailingSpaceComparator trailing_space;
  Settings settings;
  settings.options.compression = leveldb::kNoCompression;
  settings.options.paranoid_checks = true;
  for (int i = first; i < argc; i++) {
    const std::string name = argv[i];
    if (name == "--no-filter") {
      settings.bits_per_key.reset();
      continue;
    }
    if (i + 1 == argc) {
      Misuse("unknown option, or its value is missing: " + name);
    }
    const std::string value = argv[++i];
    if (name == "--block-size") {
      settings.options.block_size = ParseInt(name, value);
    } else if (name == "--restart-interval") {
      settings.options.block_restart_interval = ParseInt(name, value);
    } else if (name == "--bits-per-key") {
      settings.bits_per_key = ParseInt(name, value);
    } else if (name == "--compression" && (value == "none" || value == "snappy")) {
      settings.options.compression =
          value == "snappy" ? leveldb::kSnappyCompression : leveldb::kNoCompression;
    } else if (name == "--comparator" && (value == "bytewise" || value == "trailing-space")) {
      settings.trailing_space = value == "trailing-space";
      if (settings.trailing_space) {
        settings.options.comparator = &trailing_space;
      }
    } else {
      Misuse("unknown option: " + name + " " + value);
    }
  }
  return settings;
}

// All of standard input; fields are slices of it.
class Input {
 public:
  Input() {
    char buffer[1 << 16];
    size_t n;
    while ((n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0) {
      bytes_.append(buffer, n);
    }
  }

  bool AtEnd() const { return offset_ == bytes_.size(); }

  Slice Field() {
    const size_t left = bytes_.size() - offset_;
    uint32_t length = 0;
    for (size_t i = 0; i < 4 && i < left; i++) {
      length |= static_cast<uint32_t>(static_cast<uint8_t>(bytes_[offset_ + i])) << (8 * i);
    }
    if (left < 4 || length > left - 4) {
      Misuse("the input ends inside the field at offset " + std::to_string(offset_));
    }
    const Slice field(bytes_.data() + offset_ + 4, length);
    offset_ += 4 + static_cast<size_t>(length);
    return field;
  }

  std::vector<Slice> Fields() {
    std::vector<Slice> fields;
    while (!AtEnd()) {
      fields.push_back(Field());
    }
    return fields;
  }

 private:
  std::string bytes_;
  size_t offset_ = 0;
};

void Write(const Slice& bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stdout); }

void WriteInt(uint64_t value, int byte_length) {
  for (int i = 0; i < byte_length; i++) {
    std::fputc(static_cast<int>(value >> (8 * i) & 0xff), stdout);
  }
}

void WriteField(const Slice& field) {
  WriteInt(field.size(), 4);
  Write(field);
}

void Build(const char* out, Settings settings) {
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  if (settings.bits_per_key) {
    policy = NewPolicy(settings, *settings.bits_per_key);
    settings.options.filter_policy = policy.get();
  }
  leveldb::WritableFile* opened;
  Check(leveldb::Env::Default()->NewWritableFile(out, &opened));
  const std::unique_ptr<leveldb::WritableFile> file(opened);
  leveldb::TableBuilder builder(settings.options, file.get());
  Input input;
  std::optional<Slice> last;
  while (!input.AtEnd()) {
    const Slice key = input.Field();
    const Slice value = input.Field();
    // The builder checks the order only with an assertion, which release builds leave out.
    if (last && settings.options.comparator->Compare(*last, key) >= 0) {
      Misuse("keys must ascend: entry " + std::to_string(builder.NumEntries()));
    }
    builder.Add(key, value);
    last = key;
  }
  Check(builder.Finish());
  Check(file->Close());
}

struct OpenTable {
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  std::unique_ptr<leveldb::RandomAccessFile> file;
  std::unique_ptr<leveldb::Table> table;
};

OpenTable Open(const char* path, Settings settings) {
  OpenTable open;
  if (settings.bits_per_key) {
    open.policy = NewPolicy(settings, *settings.bits_per_key);
    settings.options.filter_policy = open.policy.get();
  }
  leveldb::Env* env = leveldb::Env::Default();
  uint64_t size;
  Check(env->GetFileSize(path, &size));
  leveldb::RandomAccessFile* file;
  Check(env->NewRandomAccessFile(path, &file));
  open.file.reset(file);
  leveldb::Table* table;
  Check(leveldb::Table::Open(settings.options, file, size, &table));
  open.table.reset(table);
  return open;
}

leveldb::ReadOptions Verified() {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  return options;
}

void Dump(const char* path, const Settings& settings) {
  const OpenTable open = Open(path, settings);
  const std::unique_ptr<leveldb::Iterator> it(open.table->NewIterator(Verified()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    WriteField(it->key());
    WriteField(it->value());
  }
  Check(it->status());
}

// Only Table::InternalGet, which is private, uses the filter. An explicit instantiation may name private
// members, so this one hands out a pointer to it.
using InternalGet = Status (leveldb::Table::*)(const leveldb::ReadOptions&, const Slice&, void*,
                                               void (*)(void*, const Slice&, const Slice&));
InternalGet TableInternalGet();
template <InternalGet member>
struct Expose {
  friend InternalGet TableInternalGet() { return member; }
};
template struct Expose<&leveldb::Table::InternalGet>;

struct Lookup {
  const leveldb::Comparator* comparator;
  Slice key;
  std::optional<std::string> value;
};

void TakeIfEqual(void* arg, const Slice& key, const Slice& value) {
  auto* lookup = static_cast<Lookup*>(arg);
  if (lookup->comparator->Compare(key, lookup->key) == 0) {
    lookup->value = value.ToString();
  }
}

void Get(const char* path, const Settings& settings) {
  const OpenTable open = Open(path, settings);
  const std::unique_ptr<leveldb::Iterator> it(open.table->NewIterator(Verified()));
  Input input;
  for (const Slice& key : input.Fields()) {
    Lookup lookup{settings.options.comparator, key, std::nullopt};
    if (settings.bits_per_key) {
      Check((open.table.get()->*TableInternalGet())(Verified(), key, &lookup, TakeIfEqual));
    } else {
      it->Seek(key);
      if (it->Valid()) {
        TakeIfEqual(&lookup, it->key(), it->value());
      }
      Check(it->status());
    }
    WriteInt(lookup.value ? 1 : 0, 1);
    WriteField(lookup.value.value_or(""));
  }
}

void Offset(const char* path, const Settings& settings) {
  const OpenTable open = Open(path, settings);
  Input input;
  for (const Slice& key : input.Fields()) {
    WriteInt(open.table->ApproximateOffsetOf(key), 8);
  }
}

void Filter(int bits_per_key, const Settings& settings) {
  Input input;
  const std::vector<Slice> keys = input.Fields();
  std::string filter;
  NewPolicy(settings, bits_per_key)->CreateFilter(keys.data(), static_cast<int>(keys.size()), &filter);
  Write(filter);
}

void MayMatch(const Settings& settings) {
  // A filter stores its number of probes, so the policy's setting does not matter.
  const auto policy = NewPolicy(settings, 10);
  Input input;
  const Slice filter = input.Field();
  for (const Slice& key : input.Fields()) {
    WriteInt(policy->KeyMayMatch(key, filter) ? 1 : 0, 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  const auto operand = [&]() -> const char* {
    if (argc < 3) {
      Misuse(command + " needs an operand");
    }
    return argv[2];
  };
  if (command == "version") {
    std::printf("%d.%d", leveldb::kMajorVersion, leveldb::kMinorVersion);
  } else if (command == "build") {
    Build(operand(), ParseSettings(argc, argv, 3));
  } else if (command == "dump") {
    Dump(operand(), ParseSettings(argc, argv, 3));
  } else if (command == "get") {
    Get(operand(), ParseSettings(argc, argv, 3));
  } else if (command == "offset") {
    Offset(operand(), ParseSettings(argc, argv, 3));
  } else if (command == "filter") {
    Filter(ParseInt("filter", operand()), ParseSettings(argc, argv, 3));
  } else if (command == "may-match") {
    MayMatch(ParseSettings(argc, argv, 2));
  } else {
    Misuse("unknown command: " + command);
  }
  if (std::fflush(stdout) != 0) {
    Misuse("cannot write the output");
  }
  return 0;
}
