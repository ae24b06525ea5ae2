// Command goleveldb makes what tests compare with: Bloom filters and databases of goleveldb.
//
//	goleveldb filters             reads lines "bits key key ..." with keys in hexadecimal; writes a filter in hexadecimal for each
//	goleveldb database PATH BASE  writes a database of 20,000 keys, with a filter for every 2^BASE bytes of a table
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

const entries = 20000

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func filters() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		generator := filter.NewBloomFilter(must(strconv.Atoi(fields[0]))).NewGenerator()
		for _, key := range fields[1:] {
			generator.Add(must(hex.DecodeString(key)))
		}
		buffer := &util.Buffer{}
		generator.Generate(buffer)
		fmt.Println(hex.EncodeToString(buffer.Bytes()))
	}
}

// key has the even numbers twice, as text and as bytes of which many are above 0x7f.
func key(i int) []byte {
	if i%2 == 0 {
		return []byte(fmt.Sprintf("key %09d", 2*i))
	}
	return binary.BigEndian.AppendUint32([]byte{0xff, 0xfe, 0xfd}, uint32(i)*2654435761)
}

func database(path string, baseLg int) {
	db := must(leveldb.OpenFile(path, &opt.Options{
		Filter:       filter.NewBloomFilter(10),
		FilterBaseLg: baseLg,
		Compression:  opt.NoCompression,
	}))
	for i := 0; i < entries; i++ {
		if err := db.Put(key(i), []byte(strings.Repeat("v", 100)), nil); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.CompactRange(util.Range{}); err != nil {
		log.Fatal(err)
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
}

func main() {
	if os.Args[1] == "filters" {
		filters()
	} else {
		database(os.Args[2], must(strconv.Atoi(os.Args[3])))
	}
}
