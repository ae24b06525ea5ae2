// Runs goleveldb: as src/peer-process.ts describes, or one job of the benchmark of whole processes, `peer JOB FOLDER ENTRIES`.
package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

var db *leveldb.DB

func bytesOf(token string) []byte {
	bytes, err := hex.DecodeString(strings.TrimPrefix(token, "x"))
	if err != nil {
		panic(err)
	}
	return bytes
}

func apply(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		fields := strings.Split(line, " ")
		switch fields[0] {
		case "put":
			err = db.Put(bytesOf(fields[1]), bytesOf(fields[2]), nil)
		case "delete":
			err = db.Delete(bytesOf(fields[1]), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func dump(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	iterator := db.NewIterator(nil, nil)
	defer iterator.Release()
	for iterator.Next() {
		fmt.Fprintf(out, "x%x x%x\n", iterator.Key(), iterator.Value())
	}
	if err := iterator.Error(); err != nil {
		return err
	}
	return out.Flush()
}

// An empty transaction writes the memtable into a table, and moves on to the next log.
func flush() error {
	transaction, err := db.OpenTransaction()
	if err != nil {
		return err
	}
	return transaction.Commit()
}

func run(command, argument string) (err error) {
	if db == nil && command != "open" {
		return errors.New("not open")
	}
	switch command {
	case "open":
		buffer, path, _ := strings.Cut(argument, " ")
		bytes, _ := strconv.Atoi(buffer)
		db, err = leveldb.OpenFile(path, &opt.Options{
			WriteBuffer:         bytes,
			CompactionTableSize: bytes,
			Filter:              filter.NewBloomFilter(10),
		})
		return err
	case "apply":
		return apply(argument)
	case "flush":
		return flush()
	case "compact":
		return db.CompactRange(util.Range{})
	case "dump":
		return dump(argument)
	case "close":
		err = db.Close()
		db = nil
		return err
	}
	return errors.New("unknown command " + command)
}

// The same keys, values and order as in src/workload.ts of the benchmarks.
func randomAt(seed, i uint32) uint32 {
	z := seed*0x85ebca6b + (i+1)*0x9e3779b9
	z = (z ^ z>>16) * 0x21f0aaad
	z = (z ^ z>>15) * 0x735a2d97
	return z ^ z>>15
}

func keyAt(i, n uint64) []byte {
	gap := 9_000_000_000_000_000 / n
	number := i*gap + 2*(uint64(randomAt(1, uint32(i)))%(gap/2))
	key := make([]byte, 16)
	for digit := 15; digit >= 0; digit-- {
		key[digit] = '0' + byte(number%10)
		number /= 10
	}
	return key
}

// One after another in one array, as in src/workload.ts.
func allValues() []byte {
	values := make([]byte, 10_000*100)
	for i := range values {
		values[i] = byte(randomAt(2, uint32(i-i%100+i%100%50)))
	}
	return values
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// Prints microseconds of processor time, KiB of peak memory, and a sum over the entries that were read.
func job(name, path string, n uint64) {
	db, err := leveldb.OpenFile(path, &opt.Options{Filter: filter.NewBloomFilter(10)})
	must(err)
	var values []byte
	// Making them takes time.
	if strings.HasPrefix(name, "fill") {
		values = allValues()
	}
	valueOf := func(i uint64) []byte { return values[i%10_000*100 : i%10_000*100+100] }
	var sum uint32
	walk := func(limit uint64) {
		iterator := db.NewIterator(nil, nil)
		for i := uint64(0); i < limit && iterator.Next(); i++ {
			sum += uint32(iterator.Key()[15]) + uint32(iterator.Value()[0])
		}
		must(iterator.Error())
		iterator.Release()
	}
	get := func(count uint64) {
		for i := uint64(0); i < count; i++ {
			value, err := db.Get(keyAt(uint64(randomAt(3, uint32(i)))%n, n), nil)
			must(err)
			sum += uint32(value[0])
		}
	}
	switch name {
	case "fill-batches":
		batch := new(leveldb.Batch)
		for i := uint64(0); i < n; i++ {
			index := i * 7919 % n
			batch.Put(keyAt(index, n), valueOf(index))
			if (i+1)%1000 == 0 || i+1 == n {
				must(db.Write(batch, nil))
				batch.Reset()
			}
		}
	case "fill-random", "fill-ordered":
		for i := uint64(0); i < n; i++ {
			index := i
			if name == "fill-random" {
				index = i * 7919 % n
			}
			must(db.Put(keyAt(index, n), valueOf(index), nil))
		}
	case "compact":
		must(db.CompactRange(util.Range{}))
	case "scan":
		walk(n)
	case "scan-first":
		walk(n / 10)
	case "get":
		get(n / 10)
	case "get-all":
		get(n)
	case "open":
	default:
		must(errors.New("no such job"))
	}
	must(db.Close())
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	fmt.Println((usage.Utime.Nano()+usage.Stime.Nano())/1000, usage.Maxrss, sum)
}

func main() {
	if len(os.Args) == 4 {
		entries, err := strconv.ParseUint(os.Args[3], 10, 64)
		must(err)
		job(os.Args[1], os.Args[2], entries)
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		command, argument, _ := strings.Cut(lines.Text(), " ")
		if err := run(command, argument); err != nil {
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Println("ok")
		}
	}
}
