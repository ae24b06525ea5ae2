// Writes and reads whole databases with the real LevelDB.
//
//   leveldb-database version                    the library's version, as text
//   leveldb-database write FOLDER SEED MODE     random operations -> the contents of each snapshot that is still held
//                                               MODE close: closes the database, so that no compaction is interrupted;
//                                               stop: ends without closing it; kill: kills itself during a write
//   leveldb-database dump FOLDER [options]      -> the status of DB::Open, as text and a newline, then all entries, in order.
//                                               Fails if iterating backward gives other entries. Changes the folder.
//   leveldb-database get FOLDER [options]       stdin: keys -> u8 found, u32 length, value; for each key. Changes the folder.
//   leveldb-database reads FOLDER [options]     stdin: keys -> u64: how many reads of table files it takes to get each key once, when all
//                                               tables are open. Without a block cache and compactions. Changes the folder.
//   leveldb-database fill FOLDER [options]      stdin: entries; puts them in this order and closes the database
//   leveldb-database script FOLDER [options]    stdin: operations, one per line; see Script. Ends without closing the database.
//   leveldb-database count FOLDER SECONDS       writes for that long, one batch per count, and prints the counts; see Count
//
// entries: (u32 key length, key, u32 value length, value)*      keys: (u32 length, key)*
// snapshots: (u64 sequence, u32 length of the entries, entries)*
// Integers are little-endian.
//
//   --comparator bytewise|reverse             default bytewise
//   --bits-per-key BITS                       default: no filter
//   --write-buffer BYTES                      default 4 MiB
//   --max-file BYTES                          default 2 MiB
//   --compact                                 fill: compacts everything before it closes the database
//   --rounds N                                fill: closes and compacts this many times, so that several levels are used
//   --paranoid                                opens with paranoid checks, and verifies checksums
//
// Exit status: 0 done; 1 the caller's mistake; 2 LevelDB reported an error. Messages go to stderr.

#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/slice.h>
#include <leveldb/status.h>
#include <leveldb/write_batch.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <unistd.h>
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

// Reverse bytewise order, with the name in the golden databases.
class ReverseComparator : public leveldb::Comparator {
 public:
  const char* Name() const override { return "test.ReverseBytewiseComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

const ReverseComparator reverse_comparator;

std::string ReadAll() {
  std::string all;
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) all.append(buffer, n);
  return all;
}

std::vector<Slice> Fields(const std::string& bytes) {
  std::vector<Slice> fields;
  for (size_t position = 0; position < bytes.size();) {
    uint32_t length;
    if (bytes.size() - position < 4) Misuse("stdin ends inside a length");
    std::memcpy(&length, bytes.data() + position, 4);
    position += 4;
    if (bytes.size() - position < length) Misuse("stdin ends inside a field");
    fields.emplace_back(bytes.data() + position, length);
    position += length;
  }
  return fields;
}

void PutField(std::string* out, const Slice& field) {
  const uint32_t length = static_cast<uint32_t>(field.size());
  out->append(reinterpret_cast<const char*>(&length), 4);
  out->append(field.data(), field.size());
}

void Write(const std::string& bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0) Misuse("stdout is closed");
}

// All entries in order. Fails if iterating backward gives other entries.
std::string Entries(leveldb::DB* db, const leveldb::ReadOptions& options) {
  std::string forwards;
  std::vector<std::pair<std::string, std::string>> entries;
  const std::unique_ptr<leveldb::Iterator> it(db->NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    PutField(&forwards, it->key());
    PutField(&forwards, it->value());
    entries.emplace_back(it->key().ToString(), it->value().ToString());
  }
  Check(it->status());
  size_t left = entries.size();
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    if (left == 0 || entries[--left].first != it->key() || entries[left].second != it->value()) {
      Check(Status::Corruption("iterating backward gives other entries"));
    }
  }
  Check(it->status());
  if (left != 0) Check(Status::Corruption("iterating backward gives fewer entries"));
  return forwards;
}

struct Settings {
  leveldb::Options options;
  leveldb::ReadOptions read;
  bool compact = false;
  int rounds = 1;
};

Settings ParseSettings(int argc, char** argv, int first) {
  Settings settings;
  settings.options.compression = leveldb::kNoCompression;
  for (int i = first; i < argc; i++) {
    const std::string name = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) Misuse(name + " needs a value");
      return argv[i];
    };
    if (name == "--comparator") {
      const std::string comparator = value();
      if (comparator == "reverse") settings.options.comparator = &reverse_comparator;
      else if (comparator != "bytewise") Misuse("unknown comparator " + comparator);
    } else if (name == "--bits-per-key") {
      settings.options.filter_policy = leveldb::NewBloomFilterPolicy(std::atoi(value().c_str()));
    } else if (name == "--write-buffer") {
      settings.options.write_buffer_size = std::strtoul(value().c_str(), nullptr, 10);
    } else if (name == "--max-file") {
      settings.options.max_file_size = std::strtoul(value().c_str(), nullptr, 10);
    } else if (name == "--compact") {
      settings.compact = true;
    } else if (name == "--rounds") {
      settings.rounds = std::atoi(value().c_str());
    } else if (name == "--paranoid") {
      settings.options.paranoid_checks = settings.read.verify_checksums = true;
    } else {
      Misuse("unknown option " + name);
    }
  }
  return settings;
}

class Random {
 public:
  explicit Random(uint32_t seed) : generator_(seed) {}
  uint32_t Below(uint32_t n) { return generator_() % n; }
  bool OneIn(uint32_t n) { return Below(n) == 0; }
  std::string Bytes(size_t length) {
    std::string bytes(length, '\0');
    for (char& byte : bytes) byte = static_cast<char>(generator_());
    return bytes;
  }

 private:
  std::mt19937 generator_;
};

// Runs random operations. Each of them takes one sequence number.
int WriteRandom(const std::string& folder, uint32_t seed, const std::string& mode) {
  Random random(seed);
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  options.max_file_size = 1 << 20;
  options.block_size = random.OneIn(2) ? 1024 : 4096;
  options.block_restart_interval = random.OneIn(3) ? 1 : 16;
  options.compression = random.OneIn(2) ? leveldb::kNoCompression : leveldb::kSnappyCompression;
  if (!random.OneIn(3)) options.filter_policy = leveldb::NewBloomFilterPolicy(1 + random.Below(20));
  if (random.OneIn(5)) options.comparator = &reverse_comparator;
  const uint32_t key_count = 20 + random.Below(random.OneIn(2) ? 200 : 3000);
  const uint32_t max_value = random.OneIn(4) ? 3000 : 300;
  const uint32_t operation_count = 1 + random.Below(random.OneIn(3) ? 200 : 6000);
  const uint32_t kill_at = mode == "kill" ? random.Below(operation_count) : operation_count;

  std::vector<std::string> keys;
  keys.push_back("");
  for (uint32_t i = 1; i < key_count; i++) {
    if (random.OneIn(4)) keys.push_back(random.Bytes(random.Below(12)));
    else if (random.OneIn(20)) keys.push_back(keys[random.Below(i)] + random.Bytes(random.Below(300)));
    else keys.push_back("key" + std::to_string(random.Below(100000)));
  }

  leveldb::DB* db = nullptr;
  uint64_t sequence = 0;
  std::vector<std::pair<uint64_t, const leveldb::Snapshot*>> snapshots;
  const auto open = [&] {
    options.reuse_logs = random.OneIn(2);
    Check(leveldb::DB::Open(options, folder, &db));
  };
  const auto close = [&] {
    for (const auto& snapshot : snapshots) db->ReleaseSnapshot(snapshot.second);
    snapshots.clear();
    delete db;
  };
  const auto show = [&] {
    std::string out;
    for (const auto& snapshot : snapshots) {
      leveldb::ReadOptions read;
      read.snapshot = snapshot.second;
      const std::string entries = Entries(db, read);
      out.append(reinterpret_cast<const char*>(&snapshot.first), 8);
      PutField(&out, entries);
    }
    Write(out);
  };

  open();
  for (uint32_t i = 0; i < operation_count; i++) {
    if (i == kill_at) {
      show();
      // The interrupted write has several blocks, and some of them may reach the file.
      if (fork() == 0) {
        usleep(random.Below(2000));
        kill(getppid(), SIGKILL);
        _exit(0);
      }
      for (;;) {
        Status status = db->Put(leveldb::WriteOptions(), "~last", random.Bytes(random.Below(200000)));
        if (!status.ok()) Check(status);
      }
    }
    leveldb::WriteBatch batch;
    uint32_t count = 1;
    if (random.OneIn(10)) count = random.Below(30);
    for (uint32_t j = 0; j < count; j++) {
      const std::string& key = keys[random.Below(key_count)];
      if (random.OneIn(4)) {
        batch.Delete(key);
      } else if (random.OneIn(3)) {
        batch.Put(key, std::string(random.Below(max_value), 'v'));
      } else {
        batch.Put(key, random.Bytes(random.OneIn(200) ? random.Below(100000) : random.Below(max_value)));
      }
    }
    Check(db->Write(leveldb::WriteOptions(), &batch));
    sequence += count;
    if (random.OneIn(400)) snapshots.emplace_back(sequence, db->GetSnapshot());
    if (!snapshots.empty() && random.OneIn(1500)) {
      const size_t which = random.Below(static_cast<uint32_t>(snapshots.size()));
      db->ReleaseSnapshot(snapshots[which].second);
      snapshots.erase(snapshots.begin() + which);
    }
    if (random.OneIn(1200)) {
      const std::string a = keys[random.Below(key_count)];
      const std::string b = keys[random.Below(key_count)];
      const Slice begin = a, end = b;
      if (random.OneIn(2)) db->CompactRange(nullptr, nullptr);
      else if (options.comparator->Compare(a, b) < 0) db->CompactRange(&begin, &end);
    }
    if (random.OneIn(1500)) {
      close();
      open();
    }
  }
  show();
  if (mode == "close") close();
  std::fflush(stdout);
  _exit(0);
}

int Dump(const std::string& folder, const Settings& settings) {
  leveldb::DB* db = nullptr;
  const Status status = leveldb::DB::Open(settings.options, folder, &db);
  std::string out = status.ToString() + "\n";
  if (status.ok()) out += Entries(db, settings.read);
  Write(out);
  delete db;
  return 0;
}

int Get(const std::string& folder, const Settings& settings) {
  const std::string input = ReadAll();
  leveldb::DB* db = nullptr;
  Check(leveldb::DB::Open(settings.options, folder, &db));
  std::string out;
  for (const Slice& key : Fields(input)) {
    std::string value;
    const Status status = db->Get(settings.read, key, &value);
    if (!status.IsNotFound()) Check(status);
    out.push_back(status.ok() ? 1 : 0);
    PutField(&out, value);
  }
  Write(out);
  delete db;
  return 0;
}

// Counts reads of files. Does no background work, whose reads would be counted too.
class CountingEnv : public leveldb::EnvWrapper {
 public:
  CountingEnv() : EnvWrapper(leveldb::Env::Default()) {}

  void Schedule(void (*)(void*), void*) override {}

  Status NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** result) override {
    const Status status = target()->NewRandomAccessFile(name, result);
    if (status.ok()) *result = new CountedFile(*result, &reads);
    return status;
  }

  uint64_t reads = 0;

 private:
  class CountedFile : public leveldb::RandomAccessFile {
   public:
    CountedFile(leveldb::RandomAccessFile* file, uint64_t* reads) : file_(file), reads_(reads) {}

    Status Read(uint64_t offset, size_t size, Slice* result, char* scratch) const override {
      ++*reads_;
      return file_->Read(offset, size, result, scratch);
    }

   private:
    const std::unique_ptr<leveldb::RandomAccessFile> file_;
    uint64_t* const reads_;
  };
};

int Reads(const std::string& folder, Settings settings) {
  const std::string input = ReadAll();
  CountingEnv env;
  settings.options.env = &env;
  settings.options.block_cache = leveldb::NewLRUCache(0);
  leveldb::DB* db = nullptr;
  Check(leveldb::DB::Open(settings.options, folder, &db));
  const std::vector<Slice> keys = Fields(input);
  uint64_t before = 0;
  // The first round opens the tables.
  for (int round = 0; round < 2; round++) {
    before = env.reads;
    for (const Slice& key : keys) {
      std::string value;
      const Status status = db->Get(settings.read, key, &value);
      if (!status.IsNotFound()) Check(status);
    }
  }
  const uint64_t reads = env.reads - before;
  Write(std::string(reinterpret_cast<const char*>(&reads), 8));
  // Closing the database would wait for background work, which never runs.
  _exit(0);
}

int Fill(const std::string& folder, Settings settings) {
  const std::string input = ReadAll();
  const std::vector<Slice> fields = Fields(input);
  settings.options.create_if_missing = true;
  const size_t pairs = fields.size() / 2;
  for (int round = 0; round < settings.rounds; round++) {
    leveldb::DB* db = nullptr;
    Check(leveldb::DB::Open(settings.options, folder, &db));
    for (size_t i = pairs * round / settings.rounds; i < pairs * (round + 1) / settings.rounds; i++) {
      Check(db->Put(leveldb::WriteOptions(), fields[2 * i], fields[2 * i + 1]));
    }
    if (settings.compact && round == 0) db->CompactRange(nullptr, nullptr);
    delete db;
  }
  return 0;
}

// Can delay background work, so that a write always completes before the work that it schedules.
class SteppedEnv : public leveldb::EnvWrapper {
 public:
  SteppedEnv() : EnvWrapper(leveldb::Env::Default()) {}

  void Schedule(void (*function)(void*), void* argument) override {
    std::unique_lock<std::mutex> lock(mutex_);
    pending_++;
    Work* work = new Work{this, function, argument};
    if (held_) waiting_.push_back(work);
    else target()->Schedule(&SteppedEnv::Run, work);
  }

  // Queues work that is scheduled from now on until Release.
  void Hold() {
    std::unique_lock<std::mutex> lock(mutex_);
    held_ = true;
  }

  void Release() {
    std::unique_lock<std::mutex> lock(mutex_);
    held_ = false;
    for (Work* work : waiting_) target()->Schedule(&SteppedEnv::Run, work);
    waiting_.clear();
  }

  void WaitUntilIdle() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (pending_ > 0) idle_.wait(lock);
  }

 private:
  struct Work {
    SteppedEnv* env;
    void (*function)(void*);
    void* argument;
  };

  static void Run(void* argument) {
    const std::unique_ptr<Work> work(static_cast<Work*>(argument));
    work->function(work->argument);
    std::unique_lock<std::mutex> lock(work->env->mutex_);
    if (--work->env->pending_ == 0) work->env->idle_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<Work*> waiting_;
  int pending_ = 0;
  bool held_ = false;
};

// A key or a value: plain text, hex:, rep:COUNT:BYTE, rnd:COUNT:SEED, as in golden-db.
std::string FromToken(const std::string& token) {
  const auto number = [](const std::string& text, int base) { return static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, base)); };
  std::string bytes;
  if (token.rfind("hex:", 0) == 0) {
    for (size_t i = 4; i + 1 < token.size(); i += 2) bytes.push_back(static_cast<char>(number(token.substr(i, 2), 16)));
  } else if (token.rfind("rep:", 0) == 0) {
    const size_t colon = token.find(':', 4);
    bytes.assign(number(token.substr(4, colon - 4), 10), static_cast<char>(number(token.substr(colon + 1), 16)));
  } else if (token.rfind("rnd:", 0) == 0) {
    const size_t colon = token.find(':', 4);
    uint32_t s = number(token.substr(colon + 1), 10);
    for (uint32_t i = number(token.substr(4, colon - 4), 10); i > 0; i--) {
      s = s * 1664525u + 1013904223u;
      bytes.push_back(static_cast<char>(s >> 24));
    }
  } else {
    bytes = token;
  }
  return bytes;
}

// Runs operations. After each, waits until there is no background work.
//
//   open [reuse] · close · repair (of a closed database) · put KEY VALUE · del KEY · batch … end (puts and dels between them) · get KEY
//   flush · compact [BEGIN END] · snapshot NAME · release NAME · scan (all entries) · scan-back (the same, backwards)
//   property NAME -> stdout: u32 length, the value; nothing if LevelDB does not know the name
int Script(const std::string& folder, Settings settings) {
  SteppedEnv* env = new SteppedEnv;
  settings.options.env = env;
  settings.options.create_if_missing = true;
  leveldb::DB* db = nullptr;
  std::map<std::string, const leveldb::Snapshot*> snapshots;
  leveldb::WriteBatch batch;
  bool is_batch = false;
  std::istringstream script(ReadAll());
  const auto write = [&] {
    if (is_batch) return;
    env->Hold();
    Check(db->Write(leveldb::WriteOptions(), &batch));
    env->Release();
    batch.Clear();
  };
  for (std::string line; std::getline(script, line);) {
    std::istringstream words(line);
    std::string operation, first, second;
    words >> operation >> first >> second;
    if (operation == "open") {
      settings.options.reuse_logs = first == "reuse";
      Check(leveldb::DB::Open(settings.options, folder, &db));
    } else if (operation == "close") {
      for (const auto& snapshot : snapshots) db->ReleaseSnapshot(snapshot.second);
      snapshots.clear();
      delete db;
    } else if (operation == "repair") {
      Check(leveldb::RepairDB(folder, settings.options));
    } else if (operation == "put") {
      batch.Put(FromToken(first), FromToken(second));
      write();
    } else if (operation == "del") {
      batch.Delete(FromToken(first));
      write();
    } else if (operation == "batch") {
      is_batch = true;
    } else if (operation == "end") {
      is_batch = false;
      write();
    } else if (operation == "get") {
      std::string value;
      const Status status = db->Get(settings.read, FromToken(first), &value);
      if (!status.IsNotFound()) Check(status);
    } else if (operation == "flush") {
      // No key is greater than this one, so only the memtable is compacted.
      const std::string end(100, '\xff');
      const Slice slice = end;
      db->CompactRange(&slice, &slice);
    } else if (operation == "compact") {
      const std::string begin = FromToken(first), end = FromToken(second);
      const Slice begin_slice = begin, end_slice = end;
      if (first.empty()) db->CompactRange(nullptr, nullptr);
      else db->CompactRange(&begin_slice, &end_slice);
    } else if (operation == "snapshot") {
      snapshots[first] = db->GetSnapshot();
    } else if (operation == "scan" || operation == "scan-back") {
      const std::unique_ptr<leveldb::Iterator> it(db->NewIterator(settings.read));
      env->Hold();
      if (operation == "scan") for (it->SeekToFirst(); it->Valid(); it->Next()) {}
      else for (it->SeekToLast(); it->Valid(); it->Prev()) {}
      Check(it->status());
      env->Release();
    } else if (operation == "property") {
      std::string value, out;
      if (db->GetProperty(first, &value)) PutField(&out, value);
      Write(out);
    } else if (operation == "release") {
      db->ReleaseSnapshot(snapshots.at(first));
      snapshots.erase(first);
    } else {
      Misuse("unknown operation " + operation);
    }
    env->WaitUntilIdle();
  }
  _exit(0);
}

// Count: batch i puts "count" = i, "slot" + (i mod 200) = i with padding, and "gone" + (i mod 10) = i, and deletes
// "gone" + ((i - 1) mod 10), which the previous batch put. So the state after each batch is known, and a reader can detect
// a state that never existed.
int Count(const std::string& folder, double seconds) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  options.max_file_size = 1 << 20;
  options.filter_policy = leveldb::NewBloomFilterPolicy(10);
  leveldb::DB* db = nullptr;
  Check(leveldb::DB::Open(options, folder, &db));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  Random random(1);
  for (uint64_t i = 1; std::chrono::steady_clock::now() < end; i++) {
    leveldb::WriteBatch batch;
    const std::string number = std::to_string(i);
    batch.Put("count", number);
    batch.Put("slot" + std::to_string(i % 200), number + " " + random.Bytes(random.Below(600)));
    batch.Put("gone" + std::to_string(i % 10), number);
    batch.Delete("gone" + std::to_string((i - 1) % 10));
    Check(db->Write(leveldb::WriteOptions(), &batch));
    // The count is printed after the write, so a reader that starts afterwards must see it.
    if (i % 64 == 0) Write(number + "\n");
    if (i % 5000 == 0) {
      delete db;
      Check(leveldb::DB::Open(options, folder, &db));
    }
  }
  delete db;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "version") {
    std::printf("%d.%d", leveldb::kMajorVersion, leveldb::kMinorVersion);
    return 0;
  }
  if (argc < 3) Misuse("usage: leveldb-database COMMAND FOLDER …");
  const std::string folder = argv[2];
  if (command == "write" && argc == 5) return WriteRandom(folder, static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)), argv[4]);
  if (command == "dump") return Dump(folder, ParseSettings(argc, argv, 3));
  if (command == "get") return Get(folder, ParseSettings(argc, argv, 3));
  if (command == "reads") return Reads(folder, ParseSettings(argc, argv, 3));
  if (command == "fill") return Fill(folder, ParseSettings(argc, argv, 3));
  if (command == "script") return Script(folder, ParseSettings(argc, argv, 3));
  if (command == "count" && argc == 4) return Count(folder, std::atof(argv[3]));
  Misuse("unknown command " + command);
}
