// LevelDB's part of the benchmark: a line in, the work done, a line out.
//
//   leveldb-bench FOLDER                 stdin: requests; FOLDER is for its files
//
//   version                          -> version 1.23
//   check JOB SIZE                   -> check NUMBER            does the work once; equal work gives equal numbers
//   time JOB SIZE PASSES             -> time WALL CPU UNITS     nanoseconds and units of all passes together;
//                                                              CPU: of all threads of the process
//
// Keys, values and lookups are those of src/workload.ts, made again by the same arithmetic.

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/slice.h>
#include <leveldb/status.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>
#include <leveldb/write_batch.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using leveldb::Slice;
using leveldb::Status;

namespace leveldb {
// util/hash.h, which is not installed; the static library has the function.
uint32_t Hash(const char* data, size_t n, uint32_t seed);
}  // namespace leveldb

// snappy-c.h, which LevelDB's headers do not bring; its shared library is there.
extern "C" {
int snappy_compress(const char* input, size_t input_length, char* compressed, size_t* compressed_length);
int snappy_uncompress(const char* compressed, size_t compressed_length, char* uncompressed, size_t* uncompressed_length);
size_t snappy_max_compressed_length(size_t source_length);
}

namespace {

constexpr uint32_t kBloomSeed = 0xbc9f1d34;
constexpr int kBitsPerKey = 10;
constexpr size_t kKeyLength = 16;
constexpr size_t kValueLength = 100;
constexpr size_t kValues = 10000;
constexpr size_t kLookups = 10000;
constexpr size_t kHashInputs = 256;
constexpr uint32_t kKeySeed = 1;
constexpr uint32_t kValueSeed = 2;
constexpr uint32_t kLookupSeed = 3;
constexpr uint32_t kHashSeed = 4;
constexpr uint32_t kWordSeed = 5;
constexpr uint32_t kTextSeed = 6;
constexpr size_t kWords = 200;
constexpr size_t kBlocks = 500;

void Check(const Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(2);
  }
}

// Element `i` of the random numbers of `seed`.
uint32_t RandomAt(uint32_t seed, uint32_t i) {
  uint32_t z = seed * 0x85ebca6b + (i + 1) * 0x9e3779b9;
  z = (z ^ (z >> 16)) * 0x21f0aaad;
  z = (z ^ (z >> 15)) * 0x735a2d97;
  return z ^ (z >> 15);
}

void WriteKey(uint32_t i, uint64_t n, bool present, char* to) {
  const uint64_t gap = 9000000000000000 / n;
  const uint64_t room = gap / 2;
  uint64_t number = i * gap + 2 * (RandomAt(kKeySeed, i) % room) + (present ? 0 : 1);
  for (int digit = kKeyLength - 1; digit >= 0; digit--) {
    to[digit] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

// Keys one after another, each of kKeyLength bytes.
struct Keys {
  std::string bytes;
  size_t count;

  Slice operator[](size_t i) const { return Slice(bytes.data() + i * kKeyLength, kKeyLength); }
};

Keys AllKeys(size_t n) {
  Keys keys{std::string(n * kKeyLength, '\0'), n};
  for (size_t i = 0; i < n; i++) {
    WriteKey(i, n, true, &keys.bytes[i * kKeyLength]);
  }
  return keys;
}

Keys LookupKeys(size_t n, bool present) {
  Keys keys{std::string(kLookups * kKeyLength, '\0'), kLookups};
  for (size_t i = 0; i < kLookups; i++) {
    WriteKey(RandomAt(kLookupSeed, i) % n, n, present, &keys.bytes[i * kKeyLength]);
  }
  return keys;
}

// Each value is 50 random bytes, twice: Snappy halves it.
std::vector<std::string> AllValues() {
  std::vector<std::string> values;
  for (size_t i = 0; i < kValues; i++) {
    std::string half;
    for (size_t j = 0; j < kValueLength / 2; j++) {
      half.push_back(static_cast<char>(RandomAt(kValueSeed, i * kValueLength + j)));
    }
    values.push_back(half + half);
  }
  return values;
}

// FNV-1a.
uint32_t Checksum(const Slice& bytes) {
  uint32_t sum = 0x811c9dc5;
  for (size_t i = 0; i < bytes.size(); i++) {
    sum = (sum ^ static_cast<uint8_t>(bytes[i])) * 0x01000193;
  }
  return sum;
}

std::string FileContents(const std::string& path) {
  std::string contents;
  Check(leveldb::ReadFileToString(leveldb::Env::Default(), path, &contents));
  return contents;
}

// One job at one size, ready to be done again and again.
struct Work {
  size_t units;
  std::function<void()> run;
  // Of what `run` did last.
  std::function<uint32_t()> check;
  // What is done before each run, and is not measured.
  std::function<void()> before = nullptr;
};

std::unique_ptr<const leveldb::FilterPolicy> NewPolicy() {
  return std::unique_ptr<const leveldb::FilterPolicy>(leveldb::NewBloomFilterPolicy(kBitsPerKey));
}

Work HashOne(size_t length) {
  auto inputs = std::make_shared<std::vector<std::string>>();
  for (size_t i = 0; i < kHashInputs; i++) {
    std::string input;
    for (size_t j = 0; j < length; j++) {
      input.push_back(static_cast<char>(RandomAt(kHashSeed, i * length + j)));
    }
    inputs->push_back(input);
  }
  auto sum = std::make_shared<uint32_t>(0);
  return {kHashInputs,
          [=] {
            uint32_t s = 0;
            for (const std::string& input : *inputs) {
              s ^= leveldb::Hash(input.data(), input.size(), kBloomSeed);
            }
            *sum = s;
          },
          [=] { return *sum; }};
}

std::vector<Slice> Slices(const Keys& keys) {
  std::vector<Slice> slices;
  slices.reserve(keys.count);
  for (size_t i = 0; i < keys.count; i++) {
    slices.push_back(keys[i]);
  }
  return slices;
}

// The slices exist before: CreateFilter alone.
Work BuildFilter(size_t n) {
  auto keys = std::make_shared<Keys>(AllKeys(n));
  auto slices = std::make_shared<std::vector<Slice>>(Slices(*keys));
  auto filter = std::make_shared<std::string>();
  std::shared_ptr<const leveldb::FilterPolicy> policy = NewPolicy();
  return {n,
          [=] {
            (void)keys;
            filter->clear();
            policy->CreateFilter(slices->data(), static_cast<int>(n), filter.get());
          },
          [=] { return Checksum(*filter); }};
}

// From strings: the slices are made each time.
Work BuildFilterFromList(size_t n) {
  const Keys keys = AllKeys(n);
  auto list = std::make_shared<std::vector<std::string>>();
  for (size_t i = 0; i < n; i++) {
    list->push_back(keys[i].ToString());
  }
  auto filter = std::make_shared<std::string>();
  std::shared_ptr<const leveldb::FilterPolicy> policy = NewPolicy();
  return {n,
          [=] {
            filter->clear();
            const std::vector<Slice> slices(list->begin(), list->end());
            policy->CreateFilter(slices.data(), static_cast<int>(n), filter.get());
          },
          [=] { return Checksum(*filter); }};
}

Work Probe(size_t n, bool present) {
  const Keys keys = AllKeys(n);
  const std::vector<Slice> slices = Slices(keys);
  auto filter = std::make_shared<std::string>();
  std::shared_ptr<const leveldb::FilterPolicy> policy = NewPolicy();
  policy->CreateFilter(slices.data(), static_cast<int>(n), filter.get());
  auto lookups = std::make_shared<Keys>(LookupKeys(n, present));
  auto matches = std::make_shared<uint32_t>(0);
  return {kLookups,
          [=] {
            uint32_t found = 0;
            for (size_t i = 0; i < kLookups; i++) {
              found += policy->KeyMayMatch((*lookups)[i], *filter);
            }
            *matches = found;
          },
          [=] { return *matches; }};
}

std::vector<std::string> Blocks(size_t length, const std::vector<std::string>& parts, const std::function<size_t(uint32_t)>& pick) {
  std::vector<std::string> blocks;
  uint32_t next = 0;
  for (size_t i = 0; i < kBlocks; i++) {
    std::string block;
    while (block.size() < length) {
      block += parts[pick(next++)];
    }
    block.resize(length);
    blocks.push_back(block);
  }
  return blocks;
}

// Text: words of a small vocabulary.
std::vector<std::string> WordBlocks(size_t length) {
  std::vector<std::string> words;
  for (size_t i = 0; i < kWords; i++) {
    std::string word;
    const size_t letters = 3 + RandomAt(kWordSeed, i * 16) % 8;
    for (size_t j = 0; j < letters; j++) {
      word.push_back(static_cast<char>('a' + RandomAt(kWordSeed, i * 16 + j + 1) % 26));
    }
    words.push_back(word + ' ');
  }
  return Blocks(length, words, [](uint32_t i) { return RandomAt(kTextSeed, i) % kWords; });
}

// Values, of which half is random.
std::vector<std::string> ValueBlocks(size_t length) {
  return Blocks(length, AllValues(), [](uint32_t i) { return i % kValues; });
}

std::string SnappyStream(const std::string& contents) {
  std::string stream(snappy_max_compressed_length(contents.size()), '\0');
  size_t length = stream.size();
  if (snappy_compress(contents.data(), contents.size(), &stream[0], &length) != 0) {
    std::exit(2);
  }
  stream.resize(length);
  return stream;
}

Work CompressBlocks(const std::vector<std::string>& blocks) {
  auto contents = std::make_shared<std::vector<std::string>>(blocks);
  auto stream = std::make_shared<std::string>(snappy_max_compressed_length(blocks[0].size()), '\0');
  return {blocks.size(),
          [=] {
            for (const std::string& block : *contents) {
              size_t length = stream->size();
              snappy_compress(block.data(), block.size(), &(*stream)[0], &length);
            }
          },
          // What an encoder makes is not laid down.
          [=]() -> uint32_t { return contents->size(); }};
}

Work DecompressBlocks(const std::vector<std::string>& blocks) {
  auto streams = std::make_shared<std::vector<std::string>>();
  for (const std::string& block : blocks) {
    streams->push_back(SnappyStream(block));
  }
  auto contents = std::make_shared<std::string>(blocks[0].size(), '\0');
  return {blocks.size(),
          [=] {
            for (const std::string& stream : *streams) {
              size_t length = contents->size();
              if (snappy_uncompress(stream.data(), stream.size(), &(*contents)[0], &length) != 0) {
                std::exit(2);
              }
            }
          },
          [=] { return Checksum(*contents); }};
}

leveldb::Options TableOptions(const leveldb::FilterPolicy* policy, leveldb::CompressionType compression) {
  leveldb::Options options;
  options.filter_policy = policy;
  options.compression = compression;
  return options;
}

void BuildTableFile(const std::string& path, const Keys& keys, const std::vector<std::string>& values,
                    const leveldb::Options& options, bool sync = false) {
  leveldb::WritableFile* opened;
  Check(leveldb::Env::Default()->NewWritableFile(path, &opened));
  std::unique_ptr<leveldb::WritableFile> file(opened);
  leveldb::TableBuilder builder(options, file.get());
  for (size_t i = 0; i < keys.count; i++) {
    builder.Add(keys[i], values[i % kValues]);
  }
  Check(builder.Finish());
  if (sync) {
    Check(file->Sync());
  }
  Check(file->Close());
}

Work BuildTable(const std::string& folder, size_t n, leveldb::CompressionType compression) {
  auto keys = std::make_shared<Keys>(AllKeys(n));
  auto values = std::make_shared<std::vector<std::string>>(AllValues());
  std::shared_ptr<const leveldb::FilterPolicy> policy = NewPolicy();
  const std::string path = folder + "/built.ldb";
  return {n,
          [=] { BuildTableFile(path, *keys, *values, TableOptions(policy.get(), compression)); },
          [=]() -> uint32_t {
            // What Snappy makes of a block is not laid down: only the reading of it is the same.
            return compression == leveldb::kNoCompression ? Checksum(FileContents(path)) : n;
          }};
}

// Whole or not at all, as writeTable does it.
Work WriteTable(const std::string& folder, size_t n) {
  auto keys = std::make_shared<Keys>(AllKeys(n));
  auto values = std::make_shared<std::vector<std::string>>(AllValues());
  std::shared_ptr<const leveldb::FilterPolicy> policy = NewPolicy();
  const std::string path = folder + "/written.ldb";
  return {n,
          [=] {
            const leveldb::Options options = TableOptions(policy.get(), leveldb::kNoCompression);
            BuildTableFile(path + ".tmp", *keys, *values, options, true);
            Check(leveldb::Env::Default()->RenameFile(path + ".tmp", path));
          },
          [=] { return Checksum(FileContents(path)); }};
}

// A table of `n` entries, on the disk and in the page cache.
std::string TableFile(const std::string& folder, size_t n,
                      leveldb::CompressionType compression = leveldb::kNoCompression) {
  const char* name = compression == leveldb::kNoCompression ? ".ldb" : "-snappy.ldb";
  const std::string path = folder + "/" + std::to_string(n) + name;
  if (!leveldb::Env::Default()->FileExists(path)) {
    const auto policy = NewPolicy();
    BuildTableFile(path, AllKeys(n), AllValues(), TableOptions(policy.get(), compression));
  }
  return path;
}

struct OpenTable {
  std::unique_ptr<const leveldb::FilterPolicy> policy = NewPolicy();
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<leveldb::RandomAccessFile> file;
  std::unique_ptr<leveldb::Table> table;

  OpenTable(const std::string& path, size_t cache_bytes) {
    uint64_t size;
    Check(leveldb::Env::Default()->GetFileSize(path, &size));
    leveldb::RandomAccessFile* opened_file;
    Check(leveldb::Env::Default()->NewRandomAccessFile(path, &opened_file));
    file.reset(opened_file);
    leveldb::Options options = TableOptions(policy.get(), leveldb::kNoCompression);
    options.paranoid_checks = true;
    if (cache_bytes > 0) {
      cache.reset(leveldb::NewLRUCache(cache_bytes));
      options.block_cache = cache.get();
    }
    leveldb::Table* opened_table;
    Check(leveldb::Table::Open(options, file.get(), size, &opened_table));
    table.reset(opened_table);
  }
};

// Last byte of the key and first of the value, so that both are looked at.
uint32_t Look(const Slice& key, const Slice& value) {
  return static_cast<uint8_t>(key[key.size() - 1]) + static_cast<uint8_t>(value[0]);
}

Work Scan(const std::string& folder, size_t n, leveldb::CompressionType compression) {
  auto open = std::make_shared<OpenTable>(TableFile(folder, n, compression), 0);
  auto sum = std::make_shared<uint32_t>(0);
  return {n,
          [=] {
            leveldb::ReadOptions options;
            options.verify_checksums = true;
            options.fill_cache = false;
            std::unique_ptr<leveldb::Iterator> it(open->table->NewIterator(options));
            uint32_t s = 0;
            for (it->SeekToFirst(); it->Valid(); it->Next()) {
              s += Look(it->key(), it->value());
            }
            Check(it->status());
            *sum = s;
          },
          [=] { return *sum; }};
}

// Seek in a table whose blocks are all in the cache; a key that is found has its value copied.
Work Seek(const std::string& folder, size_t n) {
  auto open = std::make_shared<OpenTable>(TableFile(folder, n), size_t{4} << 30);
  auto lookups = std::make_shared<Keys>(LookupKeys(n, true));
  auto sum = std::make_shared<uint32_t>(0);
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  std::shared_ptr<leveldb::Iterator> it(open->table->NewIterator(options));
  return {kLookups,
          [=] {
            (void)open;
            std::string value;
            uint32_t s = 0;
            for (size_t i = 0; i < kLookups; i++) {
              const Slice key = (*lookups)[i];
              it->Seek(key);
              if (it->Valid() && it->key() == key) {
                value.assign(it->value().data(), it->value().size());
                s += static_cast<uint8_t>(value[0]);
              }
            }
            Check(it->status());
            *sum = s;
          },
          [=] { return *sum; }};
}

// DB::Get in a compacted database of the same entries, its blocks in the cache.
Work GetFromDatabase(const std::string& folder, size_t n, bool present) {
  struct Open {
    std::unique_ptr<const leveldb::FilterPolicy> policy = NewPolicy();
    std::unique_ptr<leveldb::Cache> cache{leveldb::NewLRUCache(size_t{4} << 30)};
    std::unique_ptr<leveldb::DB> db;
  };
  auto open = std::make_shared<Open>();
  leveldb::Options options = TableOptions(open->policy.get(), leveldb::kNoCompression);
  options.block_cache = open->cache.get();
  options.create_if_missing = true;
  const std::string path = folder + "/" + std::to_string(n) + ".db";
  const bool exists = leveldb::Env::Default()->FileExists(path + "/CURRENT");
  leveldb::DB* db;
  Check(leveldb::DB::Open(options, path, &db));
  open->db.reset(db);
  if (!exists) {
    const Keys keys = AllKeys(n);
    const std::vector<std::string> values = AllValues();
    for (size_t i = 0; i < n; i++) {
      Check(db->Put(leveldb::WriteOptions(), keys[i], values[i % kValues]));
    }
    db->CompactRange(nullptr, nullptr);
  }
  auto lookups = std::make_shared<Keys>(LookupKeys(n, present));
  auto sum = std::make_shared<uint32_t>(0);
  return {kLookups,
          [=] {
            leveldb::ReadOptions read_options;
            read_options.verify_checksums = true;
            std::string value;
            uint32_t s = 0;
            for (size_t i = 0; i < kLookups; i++) {
              const Status status = open->db->Get(read_options, (*lookups)[i], &value);
              if (status.ok()) {
                s += static_cast<uint8_t>(value[0]);
              } else if (!status.IsNotFound()) {
                Check(status);
              }
            }
            *sum = s;
          },
          [=] { return *sum; }};
}

// A database that is written anew for each run: written-database.ts says what is done.
class WrittenDatabase {
 public:
  WrittenDatabase(const std::string& folder, size_t n)
      : path_(folder + "/written-" + std::to_string(n)), n_(n), keys_(AllKeys(n)), values_(AllValues()) {}

  ~WrittenDatabase() { db_.reset(); }

  void OpenNew() {
    db_.reset();
    leveldb::Options options = TableOptions(policy_.get(), leveldb::kNoCompression);
    Check(leveldb::DestroyDB(path_, options));
    options.block_cache = cache_.get();
    options.create_if_missing = true;
    leveldb::DB* db;
    Check(leveldb::DB::Open(options, path_, &db));
    db_.reset(db);
  }

  void Put(bool random, size_t offset, bool sync) {
    leveldb::WriteOptions options;
    options.sync = sync;
    for (size_t i = 0; i < n_; i++) {
      const size_t index = random ? Shuffled(i) : i;
      Check(db_->Put(options, keys_[index], values_[(index + offset) % kValues]));
    }
  }

  void Fill() {
    leveldb::WriteBatch batch;
    for (size_t i = 0; i < n_; i++) {
      batch.Put(keys_[Shuffled(i)], values_[Shuffled(i) % kValues]);
      if ((i + 1) % kBatch != 0 && i + 1 < n_) continue;
      Check(db_->Write(leveldb::WriteOptions(), &batch));
      batch.Clear();
    }
  }

  void Compact() {
    const Slice first = keys_[0];
    const Slice last = keys_[n_ - 1];
    db_->CompactRange(&first, &last);
  }

  uint32_t Sum() {
    uint32_t sum = 0;
    std::unique_ptr<leveldb::Iterator> it(db_->NewIterator(leveldb::ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      sum += static_cast<uint8_t>(it->key()[kKeyLength - 1]) + static_cast<uint8_t>(it->value()[0]);
    }
    Check(it->status());
    return sum;
  }

 private:
  static constexpr size_t kBatch = 1000;

  size_t Shuffled(size_t i) const { return i * 7919 % n_; }

  const std::string path_;
  const size_t n_;
  const Keys keys_;
  const std::vector<std::string> values_;
  std::unique_ptr<const leveldb::FilterPolicy> policy_ = NewPolicy();
  std::unique_ptr<leveldb::Cache> cache_{leveldb::NewLRUCache(size_t{4} << 30)};
  std::unique_ptr<leveldb::DB> db_;
};

Work Written(const std::string& folder, size_t n, bool filled, std::function<void(WrittenDatabase&)> run) {
  auto database = std::make_shared<WrittenDatabase>(folder, n);
  return {n, [=] { run(*database); }, [=] { return database->Sum(); }, [=] {
            database->OpenNew();
            if (filled) database->Fill();
          }};
}

Work Open(const std::string& folder, size_t n) {
  const std::string path = TableFile(folder, n);
  return {1, [=] { OpenTable open(path, 0); }, [=]() -> uint32_t { return n; }};
}

std::map<std::string, std::function<Work(size_t)>> Jobs(const std::string& folder) {
  return {
      {"hash", HashOne},
      {"hash-each", HashOne},
      {"build-filter", BuildFilter},
      {"build-filter-from-list", BuildFilterFromList},
      {"probe-present", [](size_t n) { return Probe(n, true); }},
      {"probe-absent", [](size_t n) { return Probe(n, false); }},
      {"probe-batch-present", [](size_t n) { return Probe(n, true); }},
      {"probe-batch-absent", [](size_t n) { return Probe(n, false); }},
      {"compress-words", [](size_t n) { return CompressBlocks(WordBlocks(n)); }},
      {"compress-values", [](size_t n) { return CompressBlocks(ValueBlocks(n)); }},
      {"decompress-words", [](size_t n) { return DecompressBlocks(WordBlocks(n)); }},
      {"decompress-values", [](size_t n) { return DecompressBlocks(ValueBlocks(n)); }},
      {"build-table", [=](size_t n) { return BuildTable(folder, n, leveldb::kNoCompression); }},
      {"build-table-snappy", [=](size_t n) { return BuildTable(folder, n, leveldb::kSnappyCompression); }},
      {"write-table", [=](size_t n) { return WriteTable(folder, n); }},
      {"scan", [=](size_t n) { return Scan(folder, n, leveldb::kNoCompression); }},
      {"scan-snappy", [=](size_t n) { return Scan(folder, n, leveldb::kSnappyCompression); }},
      {"seek", [=](size_t n) { return Seek(folder, n); }},
      {"get-present", [=](size_t n) { return GetFromDatabase(folder, n, true); }},
      {"get-absent", [=](size_t n) { return GetFromDatabase(folder, n, false); }},
      {"open", [=](size_t n) { return Open(folder, n); }},
      {"db-write-put-sequential",
       [=](size_t n) { return Written(folder, n, false, [](WrittenDatabase& db) { db.Put(false, 0, false); }); }},
      {"db-write-put-random",
       [=](size_t n) { return Written(folder, n, false, [](WrittenDatabase& db) { db.Put(true, 0, false); }); }},
      {"db-write-put-sync",
       [=](size_t n) { return Written(folder, n, false, [](WrittenDatabase& db) { db.Put(true, 0, true); }); }},
      {"db-write-overwrite",
       [=](size_t n) { return Written(folder, n, true, [](WrittenDatabase& db) { db.Put(true, 1, false); }); }},
      {"db-write-batches", [=](size_t n) { return Written(folder, n, false, [](WrittenDatabase& db) { db.Fill(); }); }},
      {"db-write-compact", [=](size_t n) { return Written(folder, n, true, [](WrittenDatabase& db) { db.Compact(); }); }},
  };
}

int64_t Nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: leveldb-bench FOLDER\n");
    return 1;
  }
  const auto jobs = Jobs(argv[1]);
  std::map<std::pair<std::string, size_t>, Work> ready;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream request(line);
    std::string verb, job;
    size_t size = 0;
    size_t passes = 1;
    request >> verb;
    if (verb == "version") {
      std::cout << "version " << leveldb::kMajorVersion << "." << leveldb::kMinorVersion << std::endl;
      continue;
    }
    request >> job >> size >> passes;
    const auto make = jobs.find(job);
    if (make == jobs.end()) {
      std::fprintf(stderr, "no such job: %s\n", job.c_str());
      return 1;
    }
    auto work = ready.find({job, size});
    if (work == ready.end()) {
      work = ready.emplace(std::make_pair(job, size), make->second(size)).first;
    }
    Work& done = work->second;
    if (verb == "check") {
      if (done.before) done.before();
      done.run();
      std::cout << "check " << done.check() << std::endl;
      continue;
    }
    // Passes that need nothing before them are timed together: to read the clocks takes as long as the shortest of them.
    const size_t timings = done.before ? passes : 1;
    int64_t wall = 0;
    int64_t cpu = 0;
    for (size_t i = 0; i < timings; i++) {
      if (done.before) done.before();
      wall -= Nanoseconds(CLOCK_MONOTONIC);
      cpu -= Nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
      for (size_t j = 0; j < passes / timings; j++) done.run();
      wall += Nanoseconds(CLOCK_MONOTONIC);
      cpu += Nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    }
    std::cout << "time " << wall << " " << cpu << " " << done.units * passes << std::endl;
  }
}
