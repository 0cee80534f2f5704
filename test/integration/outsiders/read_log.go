// Reads a log with Go's own packages (golang.org/x/mod/sumdb/note and tlog), which know nothing of Baton: opens the signed tree
// head, proves every record in it and every smaller tree before it, all by hash tiles over HTTP.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type reader struct {
	url, token string
	tiles      map[string][]byte
}

func (r *reader) get(path string) []byte {
	if known, ok := r.tiles[path]; ok {
		return known
	}
	request, err := http.NewRequest("GET", r.url+"/"+path, nil)
	check(err)
	request.Header.Set("Authorization", "Bearer "+r.token)
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode != 200 {
		log.Fatalf("%s: %d %s", path, response.StatusCode, data)
	}
	r.tiles[path] = data
	return data
}

// As C2SP tlog-tiles names them, without the height that Go's checksum database has in its paths.
func pathOf(level string, tile tlog.Tile) string {
	parts := strings.Split(tile.Path(), "/")
	return "tile/" + level + "/" + strings.Join(parts[3:], "/")
}

func (r *reader) Height() int { return 8 }
func (r *reader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		all = append(all, r.get(pathOf(strconv.Itoa(tile.L), tile)))
	}
	return all, nil
}
func (r *reader) SaveTiles([]tlog.Tile, [][]byte) {}

func (r *reader) entries(size int64) [][]byte {
	var all [][]byte
	for from := int64(0); from < size; from += 256 {
		width := size - from
		if width > 256 {
			width = 256
		}
		data := r.get(pathOf("entries", tlog.Tile{H: 8, L: 0, N: from / 256, W: int(width)}))
		for len(data) > 0 {
			length := int(binary.BigEndian.Uint16(data))
			all = append(all, data[2:2+length])
			data = data[2+length:]
		}
	}
	return all
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	r := &reader{url: os.Args[1], token: os.Args[3], tiles: map[string][]byte{}}
	verifier, err := note.NewVerifier(os.Args[2])
	check(err)
	opened, err := note.Open(r.get("checkpoint"), note.VerifierList(verifier))
	check(err)
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	data, err := base64.StdEncoding.DecodeString(lines[2])
	check(err)
	var root tlog.Hash
	copy(root[:], data)
	hashes := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, r)
	entries := r.entries(size)
	if int64(len(entries)) != size {
		log.Fatalf("%d entries, the checkpoint covers %d", len(entries), size)
	}
	for at, entry := range entries {
		proof, err := tlog.ProveRecord(size, int64(at), hashes)
		check(err)
		check(tlog.CheckRecord(proof, size, root, int64(at), tlog.RecordHash(entry)))
	}
	for smaller := int64(1); smaller <= size; smaller++ {
		before, err := tlog.TreeHash(smaller, hashes)
		check(err)
		proof, err := tlog.ProveTree(size, smaller, hashes)
		check(err)
		check(tlog.CheckTree(proof, size, root, smaller, before))
	}
	fmt.Printf("%s %d\n", lines[0], size)
}
