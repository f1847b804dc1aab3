package adb

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/device/adb/wire"
)

// Key is a key that identifies this computer to devices.
type Key struct {
	private *rsa.PrivateKey
	comment string
}

// maxKeyFile limits the size of a key file, in bytes.
const maxKeyFile = 64 << 10

// UserKeys returns the keys that adb itself would use: ~/.android/adbkey, which is created
// where it is absent, then those that ADB_VENDOR_KEYS names: files, or directories of
// *.adb_key.
func UserKeys(getenv func(string) string) ([]*Key, error) {
	own, err := ownKey(getenv)
	if err != nil {
		return nil, err
	}
	keys := []*Key{own}
	for path := range strings.SplitSeq(getenv("ADB_VENDOR_KEYS"), string(filepath.ListSeparator)) {
		if path == "" {
			continue
		}
		more, err := vendorKeys(path)
		if err != nil {
			return nil, fmt.Errorf("reading the keys of ADB_VENDOR_KEYS: %w", err)
		}
		keys = append(keys, more...)
	}
	return keys, nil
}

func ownKey(getenv func(string) string) (*Key, error) {
	dir, err := androidDir(getenv)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "adbkey")
	key, err := ReadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createKey(path, comment(getenv))
	}
	if err == nil {
		key.comment = comment(getenv)
	}
	return key, err
}

func androidDir(getenv func(string) string) (string, error) {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := getenv(name); dir != "" {
			return filepath.Join(dir, ".android"), nil
		}
	}
	return "", errors.New("finding adb's key: HOME is not set")
}

func vendorKeys(path string) ([]*Key, error) {
	paths := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		paths, err = filepath.Glob(filepath.Join(path, "*.adb_key"))
		if err != nil {
			return nil, err
		}
	}
	var keys []*Key
	for _, p := range paths {
		key, err := ReadKey(p)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// ReadKey reads a private key in adb's format: an RSA key of 2048 bits in PEM.
func ReadKey(path string) (*Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxKeyFile {
		return nil, fmt.Errorf("reading %s: %d bytes, at most %d allowed", path, info.Size(), maxKeyFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	private, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return &Key{private: private}, nil
}

func parseKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM block, want one of a private key")
	}
	var private *rsa.PrivateKey
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
		if err != nil {
			return nil, err
		}
		private = key
	case "PRIVATE KEY":
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, err
		}
		var ok bool
		if private, ok = key.(*rsa.PrivateKey); !ok {
			return nil, fmt.Errorf("a key of kind %T, want RSA", key)
		}
	default:
		return nil, fmt.Errorf("a PEM block %q, want PRIVATE KEY or RSA PRIVATE KEY", block.Type)
	}
	if bits := private.N.BitLen(); bits != 2048 {
		return nil, fmt.Errorf("a key of %d bits, want 2048", bits)
	}
	return private, nil
}

// createKey generates a key and writes it in adb's format. If another process has written one
// first, that key is used.
func createKey(path, comment string) (*Key, error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	key := &Key{private: private, comment: comment}
	public, err := key.Public()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("making a place for adb's key: %w", err)
	}
	err = writeNew(path, os.Link, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if errors.Is(err, fs.ErrExist) {
		return ReadKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("writing adb's key: %w", err)
	}
	if err := os.WriteFile(path+".pub", []byte(public), 0o644); err != nil {
		return nil, fmt.Errorf("writing adb's public key: %w", err)
	}
	return key, nil
}

// writeNew creates the file atomically, readable by its owner only. Where the file system has
// no hard links (SMB, exFAT, some volumes of build machines), the file is empty for a moment.
func writeNew(path string, link func(from, to string) error, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".adbkey-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := link(temp.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return writeInPlace(path, data)
}

// writeInPlace writes a file that must not exist yet.
func writeInPlace(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// comment is "user@host", as adb appends it to a public key.
func comment(getenv func(string) string) string {
	user := "unknown"
	for _, name := range []string{"LOGNAME", "USER", "USERNAME"} {
		if v := getenv(name); v != "" {
			user = v
			break
		}
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return user + "@" + host
}

// Public returns the public key as a line of adbkey.pub.
func (k *Key) Public() (string, error) {
	encoded, err := wire.EncodePublicKey(&k.private.PublicKey)
	if err != nil || k.comment == "" {
		return encoded, err
	}
	return encoded + " " + k.comment, nil
}

// sign signs a device's token. The token is used in place of a SHA-1 digest.
func (k *Key) sign(token []byte) ([]byte, error) {
	if len(token) != wire.TokenSize {
		return nil, fmt.Errorf("signing the device's token: %d bytes, want %d", len(token), wire.TokenSize)
	}
	return rsa.SignPKCS1v15(rand.Reader, k.private, crypto.SHA1, token)
}
