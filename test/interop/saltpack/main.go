// test/interop/saltpack/main.go: runs the reference implementation of saltpack. Requests and answers are JSON lines on stdin and stdout.
package main

import (
	"bufio"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"time"

	"github.com/keybase/saltpack"
	"github.com/keybase/saltpack/basic"
	"golang.org/x/crypto/curve25519"
)

// Request is an operation: seal, open, armor or dearmor. Bytes are base64, keys 32 bytes of Ed25519.
type Request struct {
	Do         string
	Sender     []byte   // a seed
	Recipients [][]byte // public keys
	Key        []byte   // the recipient's seed, to open
	Input      []byte   // a plaintext or a message
	Armored    bool
	Measure    int // milliseconds: repeat the operation for this long
}

// Answer is the result of a request.
type Answer struct {
	Output    []byte  `json:"output"`
	Sender    []byte  `json:"sender,omitempty"`    // the signer of an opened message
	PerSecond float64 `json:"perSecond,omitempty"` // with Measure
	Error     string  `json:"error,omitempty"`
}

// work returns its output and, when opening, the sender.
type work func() (output []byte, sender []byte, err error)

func main() {
	requests := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(out)
	for {
		var request Request
		if err := requests.Decode(&request); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fail(err)
		}
		if err := answers.Encode(answer(request)); err != nil {
			fail(err)
		}
		if err := out.Flush(); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func answer(request Request) Answer {
	do, err := workFor(request)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	output, sender, err := do()
	if err != nil && request.Measure == 0 {
		return Answer{Error: err.Error()}
	}
	if request.Measure > 0 {
		return Answer{PerSecond: measure(do, time.Duration(request.Measure)*time.Millisecond)}
	}
	return Answer{Output: output, Sender: sender}
}

// measure also counts operations that fail.
func measure(do work, length time.Duration) float64 {
	count, start := 0, time.Now()
	for time.Since(start) < length {
		_, _, _ = do()
		count++
	}
	return float64(count) / time.Since(start).Seconds()
}

func workFor(request Request) (work, error) {
	switch request.Do {
	case "seal":
		return sealing(request)
	case "open":
		return opening(request)
	case "armor":
		return func() ([]byte, []byte, error) {
			text, err := saltpack.Armor62Seal(request.Input, saltpack.MessageTypeEncryption, "")
			return []byte(text), nil, err
		}, nil
	case "dearmor":
		return func() ([]byte, []byte, error) {
			output, _, _, err := saltpack.Armor62Open(string(request.Input))
			return output, nil, err
		}, nil
	}
	return nil, fmt.Errorf("unknown operation %q", request.Do)
}

// sealing prepares all keys once, as our API does: secretKey prepares the sender's, and seal remembers converted keys of
// recipients.
func sealing(request Request) (work, error) {
	sender, err := signingKey(request.Sender)
	if err != nil {
		return nil, err
	}
	recipients, err := boxKeys(request.Recipients)
	if err != nil {
		return nil, err
	}
	creator := basic.EphemeralKeyCreator{}
	return func() ([]byte, []byte, error) {
		if request.Armored {
			text, err := saltpack.SigncryptArmor62Seal(request.Input, creator, sender, recipients, nil, "")
			return []byte(text), nil, err
		}
		output, err := saltpack.SigncryptSeal(request.Input, creator, sender, recipients, nil)
		return output, nil, err
	}, nil
}

func boxKeys(publics [][]byte) ([]saltpack.BoxPublicKey, error) {
	keys := make([]saltpack.BoxPublicKey, len(publics))
	for index, public := range publics {
		raw, err := montgomery(public)
		if err != nil {
			return nil, err
		}
		keys[index] = basic.PublicKey{RawBoxKey: raw}
	}
	return keys, nil
}

func opening(request Request) (work, error) {
	keyring, err := boxKeyring(request.Key)
	if err != nil {
		return nil, err
	}
	return func() ([]byte, []byte, error) {
		var sender saltpack.SigningPublicKey
		var output []byte
		var err error
		if request.Armored {
			sender, output, _, err = saltpack.Dearmor62SigncryptOpen(string(request.Input), keyring, nil)
		} else {
			sender, output, err = saltpack.SigncryptOpen(request.Input, keyring, nil)
		}
		if err != nil {
			return nil, nil, err
		}
		if sender == nil {
			return nil, nil, errors.New("the sender is anonymous")
		}
		return output, sender.ToKID(), nil
	}, nil
}

func signingKey(seed []byte) (saltpack.SigningSecretKey, error) {
	if len(seed) != ed25519.SeedSize {
		return nil, errors.New("a seed has 32 bytes")
	}
	secret := ed25519.NewKeyFromSeed(seed)
	public := [ed25519.PublicKeySize]byte(secret[ed25519.SeedSize:])
	key := basic.NewSigningSecretKey(&public, (*[ed25519.PrivateKeySize]byte)(secret))
	return key, nil
}

// boxKeyring has the X25519 key that belongs to a seed: RFC 8032, 5.1.5, and RFC 7748, 5.
func boxKeyring(seed []byte) (*basic.Keyring, error) {
	digest := sha512.Sum512(seed)
	secret := [32]byte(digest[:32])
	secret[0] &= 248
	secret[31] = secret[31]&127 | 64
	public, err := curve25519.X25519(secret[:], curve25519.Basepoint)
	if err != nil {
		return nil, err
	}
	keyring := basic.NewKeyring()
	keyring.ImportBoxKey((*[32]byte)(public), &secret)
	return keyring, nil
}

// montgomery is the map of RFC 7748, 4.1: u = (1+y)/(1-y) modulo 2^255-19. It uses math/big, not a library of curves, to be
// independent of the other implementations.
func montgomery(public []byte) (key saltpack.RawBoxKey, err error) {
	if len(public) != len(key) {
		return key, errors.New("a public key has 32 bytes")
	}
	one := big.NewInt(1)
	prime := new(big.Int).Sub(new(big.Int).Lsh(one, 255), big.NewInt(19))
	littleEndian := slices.Clone(public)
	littleEndian[31] &= 127
	slices.Reverse(littleEndian)
	y := new(big.Int).SetBytes(littleEndian)
	denominator := new(big.Int).Sub(one, y)
	inverse := new(big.Int).ModInverse(denominator.Mod(denominator, prime), prime)
	if inverse == nil {
		return key, errors.New("a public key has no counterpart")
	}
	u := new(big.Int).Mul(new(big.Int).Add(one, y), inverse)
	u.Mod(u, prime).FillBytes(key[:])
	slices.Reverse(key[:])
	return key, nil
}
