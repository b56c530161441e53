// Command check compares what the service signs and proves with Go's own transparency log code: notes against
// golang.org/x/mod/sumdb/note, inclusion and consistency against golang.org/x/mod/sumdb/tlog.
//
// It reads one JSON document from standard input and prints one line of JSON for each check: notes first, then
// entries, proofs and consistency, each in the order given. Exit 0 if all hold, 1 if one fails, 2 if
// the input is not the document below.
package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const proofHeader = "c2sp.org/tlog-proof@v1"

// input is what is to be checked; hashes are lower-case hex.
type input struct {
	// VKey is the pinned key; its name is the origin that every checkpoint must have.
	VKey string `json:"vkey"`
	// Notes are signed checkpoints.
	Notes []string `json:"notes"`
	// Entries are the bytes behind EntryHashes, by index; none need be given.
	Entries []string `json:"entries"`
	// Proofs are tlog-proofs of the entries in EntryHashes, by index.
	Proofs      []string      `json:"proofs"`
	EntryHashes []string      `json:"entryHashes"`
	Consistency []consistency `json:"consistency"`
}

// consistency is the claim that the tree of size From is the beginning of the tree of size To.
type consistency struct {
	From     int64    `json:"from"`
	To       int64    `json:"to"`
	FromRoot string   `json:"fromRoot"`
	ToRoot   string   `json:"toRoot"`
	Path     []string `json:"path"`
}

// result is one line of output.
type result struct {
	Kind  string `json:"kind"`
	Index int    `json:"index"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

func main() {
	failed, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

func run() (failed bool, err error) {
	var in input
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return false, err
	}
	if len(in.Proofs) != len(in.EntryHashes) || len(in.Entries) > len(in.EntryHashes) {
		return false, errors.New("proofs and entryHashes go together, and an entry needs its hash")
	}
	verifier, err := note.NewVerifier(in.VKey)
	if err != nil {
		return false, err
	}

	output := json.NewEncoder(os.Stdout)
	report := func(kind string, index int, err error) {
		line := result{Kind: kind, Index: index, OK: err == nil}
		if err != nil {
			failed = true
			line.Error = err.Error()
		}
		output.Encode(line)
	}
	for i, text := range in.Notes {
		_, err := openCheckpoint(verifier, text)
		report("note", i, err)
	}
	for i, entry := range in.Entries {
		report("entry", i, checkEntry(entry, in.EntryHashes[i]))
	}
	for i, proof := range in.Proofs {
		report("proof", i, checkProof(verifier, proof, in.EntryHashes[i]))
	}
	for i, claim := range in.Consistency {
		report("consistency", i, checkConsistency(claim))
	}
	return failed, nil
}

// openCheckpoint verifies a note's signature and reads its three lines: origin, size, root.
func openCheckpoint(verifier note.Verifier, text string) (tlog.Tree, error) {
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		return tlog.Tree{}, errors.New("a checkpoint has three lines")
	}
	if lines[0] != verifier.Name() {
		return tlog.Tree{}, errors.New("a checkpoint of another origin")
	}
	size, err := parseDecimal(lines[1])
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// checkEntry compares an entry's bytes with its hash, which is the leaf hash of RFC 6962.
func checkEntry(entry, entryHash string) error {
	want, err := parseHex(entryHash)
	if err != nil {
		return err
	}
	if tlog.RecordHash([]byte(entry)) != want {
		return errors.New("the entry has another hash")
	}
	return nil
}

// checkProof verifies a tlog-proof: its lines are the header, the index, the path from the leaf up, and after
// an empty line the signed checkpoint. A tlog.RecordProof is in the same order.
func checkProof(verifier note.Verifier, proof, entryHash string) error {
	end := strings.Index(proof, "\n\n")
	if end < 0 {
		return errors.New("a proof without checkpoint")
	}
	lines := strings.Split(proof[:end], "\n")
	if len(lines) < 2 || lines[0] != proofHeader || !strings.HasPrefix(lines[1], "index ") {
		return errors.New("not a tlog-proof")
	}
	index, err := parseDecimal(strings.TrimPrefix(lines[1], "index "))
	if err != nil {
		return err
	}
	var path tlog.RecordProof
	for _, line := range lines[2:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return err
		}
		path = append(path, hash)
	}
	leaf, err := parseHex(entryHash)
	if err != nil {
		return err
	}
	tree, err := openCheckpoint(verifier, proof[end+2:])
	if err != nil {
		return err
	}
	return tlog.CheckRecord(path, tree.N, tree.Hash, index, leaf)
}

// checkConsistency verifies a consistency proof of RFC 6962; a tlog.TreeProof is in the same order.
func checkConsistency(claim consistency) error {
	fromRoot, err := parseHex(claim.FromRoot)
	if err != nil {
		return err
	}
	toRoot, err := parseHex(claim.ToRoot)
	if err != nil {
		return err
	}
	var path tlog.TreeProof
	for _, text := range claim.Path {
		hash, err := parseHex(text)
		if err != nil {
			return err
		}
		path = append(path, hash)
	}
	return tlog.CheckTree(path, claim.To, toRoot, claim.From, fromRoot)
}

// parseDecimal reads a number in its one decimal form.
func parseDecimal(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, errors.New("not a decimal number")
	}
	return n, nil
}

func parseHex(text string) (hash tlog.Hash, err error) {
	bytes, err := hex.DecodeString(text)
	if err != nil || len(bytes) != tlog.HashSize {
		return hash, errors.New("not a hash in hex")
	}
	copy(hash[:], bytes)
	return hash, nil
}
