package gitbranch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/runstore"
)

// The files at the root of the branch.
const (
	formatPath = "format"
	readmePath = "README.md"
	// Format is the content of the branch's file "format" (docs/format/branch.md).
	Format = "apkgate.branch/1"
)

const readme = `# A history of apkgate

This branch holds measured runs of apps and what was decided about them, in
compressed files that never change. apkgate writes it; nothing else should.
It shares no commit with the code and is never merged.
`

// Limits on reading a branch that anybody may have written to.
const (
	maxSegment = 64 << 20 // bytes of a segment as it is kept
	maxFiles   = 100_000
	maxListing = 64 << 20 // bytes of what git lists
)

// folders contain the segments: of runs, of their outcomes, and of marks.
const (
	runsFolder     = "runs"
	outcomesFolder = "outcomes"
	marksFolder    = "marks"
)

var segmentPath = regexp.MustCompile(`^(runs|outcomes|marks)/[0-9a-f]/[0-9a-f]{39}\.jsonl\.zst$`)

// treeEntry is one name in a commit's tree.
type treeEntry struct{ mode, kind, oid, path string }

// contents are the files of a commit of the branch.
type contents struct {
	segments map[string]string // blobs by path
	strays   []string          // paths that apkgate never writes
}

// list lists the commit, no deeper than segments are, however deep its trees are.
func (r *repository) list(ctx context.Context, commit string) (contents, error) {
	out := contents{segments: map[string]string{}}
	root, err := r.listTree(ctx, commit)
	if err != nil {
		return out, err
	}
	format := ""
	var folders []string
	for _, e := range root {
		switch {
		case e.path == formatPath && e.kind == "blob":
			format = e.oid
		case e.path == readmePath:
		case e.kind == "tree" && (e.path == runsFolder || e.path == outcomesFolder || e.path == marksFolder):
			folders = append(folders, e.path+"/")
		default:
			out.strays = append(out.strays, e.path)
		}
	}
	if err := r.checkFormat(ctx, format); err != nil || len(folders) == 0 {
		return out, err
	}
	shelves, err := r.listTree(ctx, commit, folders...)
	if err != nil {
		return out, err
	}
	folders = nil
	for _, e := range shelves {
		if _, name, _ := strings.Cut(e.path, "/"); e.kind == "tree" && len(name) == 1 && strings.Contains("0123456789abcdef", name) {
			folders = append(folders, e.path+"/")
		} else {
			out.strays = append(out.strays, e.path)
		}
	}
	if len(folders) == 0 {
		return out, nil
	}
	files, err := r.listTree(ctx, commit, folders...)
	for _, e := range files {
		if e.mode == "100644" && segmentPath.MatchString(e.path) {
			out.segments[e.path] = e.oid
		} else {
			out.strays = append(out.strays, e.path)
		}
	}
	return out, err
}

// listTree lists the folders of the commit, each of which ends in a slash; without any, its root.
func (r *repository) listTree(ctx context.Context, commit string, folders ...string) (entries []treeEntry, err error) {
	args := append([]string{"ls-tree", "-z", "--full-tree", "--end-of-options", commit, "--"}, folders...)
	if len(folders) == 0 {
		args = args[:len(args)-1]
	}
	err = r.run(ctx, nil, func(stdout io.Reader) error {
		in := bufio.NewReader(io.LimitReader(stdout, maxListing))
		for {
			line, err := in.ReadString(0)
			if errors.Is(err, io.EOF) && line == "" {
				return nil
			}
			meta, path, ok := strings.Cut(strings.TrimSuffix(line, "\x00"), "\t")
			fields := strings.Fields(meta)
			if err != nil || !ok || len(fields) != 3 || len(entries) == maxFiles {
				return fmt.Errorf("the branch has more than %d files or %d bytes of names", maxFiles, maxListing)
			}
			entries = append(entries, treeEntry{fields[0], fields[1], fields[2], path})
		}
	}, args...)
	return entries, err
}

// checkFormat reads the branch's file "format", which marks it as ours.
func (r *repository) checkFormat(ctx context.Context, oid string) error {
	var text string
	if oid != "" {
		if err := r.blobs(ctx, []string{oid}, 1<<10, func(_ int, data []byte, err error) error {
			text = strings.TrimSpace(string(data))
			return nil
		}); err != nil {
			return err
		}
	}
	switch {
	case text == Format:
		return nil
	case strings.HasPrefix(text, "apkgate.branch/"):
		return &runstore.Error{
			Err:    fmt.Errorf("%w: branch %s is of format %.40q, want %q", runstore.ErrNewer, r.branch, text, Format),
			Advice: "Update apkgate, or use a branch of its own for this version.",
		}
	}
	return &runstore.Error{
		Err:    fmt.Errorf("%w: branch %s has no file %q that says %q", runstore.ErrNotHistory, r.branch, formatPath, Format),
		Advice: "Name a branch that is not there yet: apkgate makes it. It never writes to a branch that holds something else.",
	}
}

var (
	errTooLarge = fmt.Errorf("it is larger than %d MiB", maxSegment>>20)
	errMissing  = errors.New("the remote has not sent it: " + errTooLarge.Error() + ", or gone")
)

// blobs reads the blobs one after the other. For an unreadable one, each gets an error; data is
// valid until each returns.
func (r *repository) blobs(ctx context.Context, oids []string, limit int64, each func(i int, data []byte, err error) error) error {
	var buf []byte
	return r.run(ctx, strings.NewReader(strings.Join(oids, "\n")+"\n"), func(stdout io.Reader) error {
		in := bufio.NewReaderSize(stdout, 64<<10)
		for i := range oids {
			line, err := in.ReadString('\n')
			if err != nil {
				return err
			}
			fields := strings.Fields(line) // OID TYPE SIZE, or OID missing (git-cat-file(1))
			if len(fields) != 3 {
				if err := each(i, nil, errMissing); err != nil {
					return err
				}
				continue
			}
			size, err := strconv.ParseInt(fields[2], 10, 64)
			if err != nil {
				return fmt.Errorf("git cat-file prints %.80q", line)
			}
			if fields[1] != "blob" || size > limit {
				if _, err := io.CopyN(io.Discard, in, size+1); err != nil {
					return err
				}
				err = each(i, nil, errTooLarge)
			} else {
				if int64(cap(buf)) < size+1 {
					buf = make([]byte, size+1)
				}
				if _, err := io.ReadFull(in, buf[:size+1]); err != nil {
					return err
				}
				err = each(i, buf[:size], nil)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, "cat-file", "--batch")
}

// missing returns the objects of the commit that the remote has left out.
func (r *repository) missing(ctx context.Context, commit string) (map[string]bool, error) {
	out := map[string]bool{}
	err := r.run(ctx, nil, func(stdout io.Reader) error {
		in := bufio.NewScanner(stdout)
		in.Buffer(nil, 1<<20)
		for n := 0; in.Scan(); n++ {
			if oid, ok := strings.CutPrefix(in.Text(), "?"); ok {
				out[oid] = true
			}
			if n > 4*maxFiles {
				return fmt.Errorf("the branch has more than %d objects", n)
			}
		}
		return in.Err()
	}, "rev-list", "--objects", "--missing=print", "--max-count=1", "--end-of-options", commit)
	return out, err
}
