// Runs goleveldb, as src/peer.ts describes.
package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

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

func main() {
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
