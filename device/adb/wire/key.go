package wire

import (
	"crypto/rsa"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Android's format of a public key (android_pubkey.h in platform/system/core,
// libcrypto_utils): the modulus in words, -1/n[0] mod 2^32, the modulus, R² mod the modulus
// with R = 2^2048, the exponent. Everything is little-endian.
const (
	keyBytes       = 2048 / 8
	publicKeyBytes = 4 + 4 + keyBytes + keyBytes + 4
)

// EncodePublicKey returns the key as a line of adbkey.pub, without the comment. Only keys of
// 2048 bits can be encoded.
func EncodePublicKey(key *rsa.PublicKey) (string, error) {
	if key.N.BitLen() != 8*keyBytes {
		return "", fmt.Errorf("writing a public key: %d bits, want %d", key.N.BitLen(), 8*keyBytes)
	}
	var word, n0, inverse, rr big.Int
	word.Lsh(big.NewInt(1), 32)
	if inverse.ModInverse(n0.Mod(key.N, &word), &word) == nil {
		return "", fmt.Errorf("writing a public key: its modulus is even")
	}
	inverse.Sub(&word, &inverse)
	rr.Lsh(big.NewInt(1), 2*8*keyBytes).Mod(&rr, key.N)

	b := make([]byte, 0, publicKeyBytes)
	b = binary.LittleEndian.AppendUint32(b, keyBytes/4)
	b = binary.LittleEndian.AppendUint32(b, uint32(inverse.Uint64()))
	b = append(b, littleEndian(key.N)...)
	b = append(b, littleEndian(&rr)...)
	b = binary.LittleEndian.AppendUint32(b, uint32(key.E))
	return base64.StdEncoding.EncodeToString(b), nil
}

func littleEndian(n *big.Int) []byte {
	b := n.FillBytes(make([]byte, keyBytes))
	slices.Reverse(b)
	return b
}

// DecodePublicKey parses a line of adbkey.pub, with or without a comment.
func DecodePublicKey(text string) (*rsa.PublicKey, error) {
	text, _, _ = strings.Cut(strings.TrimRight(text, "\x00\r\n "), " ")
	if len(text) > base64.StdEncoding.EncodedLen(publicKeyBytes) {
		return nil, fmt.Errorf("reading a public key: %w: %d characters, want %d", ErrMalformed, len(text), base64.StdEncoding.EncodedLen(publicKeyBytes))
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("reading a public key: %w: %w", ErrMalformed, err)
	}
	if len(b) != publicKeyBytes {
		return nil, fmt.Errorf("reading a public key: %w: %d bytes, want %d", ErrMalformed, len(b), publicKeyBytes)
	}
	if words := binary.LittleEndian.Uint32(b); words != keyBytes/4 {
		return nil, fmt.Errorf("reading a public key: %w: a modulus of %d words, want %d", ErrMalformed, words, keyBytes/4)
	}
	modulus := slices.Clone(b[8 : 8+keyBytes])
	slices.Reverse(modulus)
	return &rsa.PublicKey{
		N: new(big.Int).SetBytes(modulus),
		E: int(binary.LittleEndian.Uint32(b[publicKeyBytes-4:])),
	}, nil
}
