package runevidence

import (
	"net/url"
	"os"
	"path/filepath"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/artifact"
)

// ForReport returns where a report on this computer finds the files of runs: in the first of the
// folders that has them.
func ForReport(runs []run.Run, folders ...*evidence.Folder) map[string]layout.KeptFile {
	out := map[string]layout.KeptFile{}
	for _, r := range runs {
		for _, e := range r.Evidence {
			for _, folder := range folders {
				if at, _, here := folder.Place(e.Digest); here {
					out[e.Digest] = fileAt(at, e)
					break
				}
			}
		}
	}
	return out
}

// InHistory is ForReport for runs of the history next to the folder, with commands that find them
// there. flags are those by which they find the history, each after a space.
func InHistory(runs []run.Run, folder *evidence.Folder, flags string) map[string]layout.KeptFile {
	out := ForReport(runs, folder)
	told := map[string]bool{} // several runs may have kept the same file: the first one is used
	for _, r := range runs {
		for _, e := range r.Evidence {
			if file := out[e.Digest]; file.OpenAt != "" && !told[e.Digest] {
				told[e.Digest] = true
				file.Open = "apkgate baseline evidence " + device.Quote(r.ID) + " --open " + e.Digest[:8] + flags
				file.OpenAt = file.Open
				out[e.Digest] = file
			}
		}
	}
	return out
}

// LinkFrom makes a page in a file on this computer link the files by relative paths; "" is no page.
func LinkFrom(page string, files map[string]layout.KeptFile) map[string]layout.KeptFile {
	dir, err := filepath.Abs(filepath.Dir(page))
	if page == "" || page == "-" || err != nil {
		return files
	}
	for digest, file := range files {
		at, err := filepath.Abs(file.At)
		if err == nil {
			at, err = filepath.Rel(dir, at)
		}
		if err == nil {
			file.Links.Page = (&url.URL{Path: filepath.ToSlash(at)}).String()
			files[digest] = file
		}
	}
	return files
}

// ForArtifact returns where a report folder, which is uploaded with address, has the files of runs.
func ForArtifact(dir, address string, runs []run.Run) map[string]layout.KeptFile {
	out := map[string]layout.KeptFile{}
	for _, r := range runs {
		for _, e := range r.Evidence {
			if _, err := os.Lstat(filepath.Join(InReport(dir), FileName(e))); err != nil {
				continue
			}
			at := artifact.EvidenceFolder + "/" + FileName(e)
			file := fileAt(at, e)
			file.Links = document.Links{Page: at, Comment: address}
			out[e.Digest] = file
		}
	}
	return out
}

func fileAt(at string, e run.Evidence) layout.KeptFile {
	file := layout.KeptFile{At: at}
	switch e.Kind {
	case run.PerfettoTrace:
		file.Open, file.OpenAt = openCommand(at, e), inspectCommand(at)
	case run.ThreadDump:
		file.Open = "apkgate diagnose " + device.Quote(at)
	}
	return file
}
