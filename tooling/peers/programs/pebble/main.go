// Runs Pebble, as src/peer.ts describes. Its argument is the format: "earliest" or "newest".
package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/bloom"
	"github.com/cockroachdb/pebble/sstable"
)

var db *pebble.DB

type silent struct{}

func (silent) Infof(string, ...interface{})  {}
func (silent) Errorf(string, ...interface{}) {}
func (silent) Fatalf(format string, args ...interface{}) {
	panic(fmt.Sprintf(format, args...))
}

func bytesOf(token string) []byte {
	bytes, err := hex.DecodeString(strings.TrimPrefix(token, "x"))
	if err != nil {
		panic(err)
	}
	return bytes
}

func open(bytes int, path string) (err error) {
	options := &pebble.Options{
		FormatMajorVersion: pebble.FormatMostCompatible,
		MemTableSize:       uint64(bytes),
		Logger:             silent{},
		Levels: []pebble.LevelOptions{
			{FilterPolicy: bloom.FilterPolicy(10), Compression: sstable.SnappyCompression, TargetFileSize: int64(bytes)},
		},
	}
	if os.Args[1] == "newest" {
		options.FormatMajorVersion = pebble.FormatNewest
	}
	db, err = pebble.Open(path, options)
	return err
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
			err = db.Set(bytesOf(fields[1]), bytesOf(fields[2]), pebble.NoSync)
		case "delete":
			err = db.Delete(bytesOf(fields[1]), pebble.NoSync)
		}
		if err != nil {
			return err
		}
	}
	// A killed process keeps what is synced.
	return db.LogData(nil, pebble.Sync)
}

func dump(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	iterator, err := db.NewIter(nil)
	if err != nil {
		return err
	}
	for valid := iterator.First(); valid; valid = iterator.Next() {
		fmt.Fprintf(out, "x%x x%x\n", iterator.Key(), iterator.Value())
	}
	if err := iterator.Close(); err != nil {
		return err
	}
	return out.Flush()
}

func run(command, argument string) error {
	if db == nil && command != "open" {
		return errors.New("not open")
	}
	switch command {
	case "open":
		buffer, path, _ := strings.Cut(argument, " ")
		bytes, _ := strconv.Atoi(buffer)
		return open(bytes, path)
	case "apply":
		return apply(argument)
	case "flush":
		return db.Flush()
	case "compact":
		return db.Compact([]byte{0}, []byte{0xff, 0xff, 0xff, 0xff}, false)
	case "dump":
		return dump(argument)
	case "close":
		err := db.Close()
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
