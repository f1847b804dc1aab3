package show

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/text"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/trace/perfetto/tables"
	"github.com/apkgate/apkgate/trace/systrace"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// tabled is a reader whose traces have tables.
type tabled struct {
	names func() []string
	read  func(content io.Reader, table string) (*tables.Table, error)
}

var withTables = map[string]tabled{
	"perfetto": {tables.Names, perfettoTable},
	"systrace": {func() []string { return systrace.Tables }, systrace.Table},
}

// perfettoTable reads a trace of packets, which must be read twice.
func perfettoTable(content io.Reader, table string) (*tables.Table, error) {
	src, drop, err := inputfiles.Seekable(content)
	if err != nil {
		return nil, err
	}
	defer drop()
	return tables.Read(src, table)
}

// tableGCPercent is how much may be allocated in addition to what is in use, in percent. Some
// 400,000 rows of a table are in memory: as much again for garbage would be too much.
const tableGCPercent = 30

// inspectTable prints the rows of a table of a trace, and on stderr what could not be read.
func inspectTable(c terminal.Console, reader, path, table string, format output.Format) error {
	of, has := withTables[reader]
	if !has {
		return exit.Usage(fmt.Errorf("%s has no tables", prose.Short(reader)), "--table is for "+strings.Join(slices.Sorted(maps.Keys(withTables)), " and "))
	}
	if err := exit.OneOf("format", format, []output.Format{output.FormatCSV, output.FormatJSON}); err != nil {
		return err
	}
	if names := of.names(); !slices.Contains(names, table) {
		return exit.Usage(fmt.Errorf("there is no table %q, want one of %s", prose.Short(table), strings.Join(names, ", ")), config.DidYouMean(table, names))
	}
	content, file, err := inputfiles.Recording(c, path, readers[reader].packed)
	if err != nil {
		return err
	}
	defer file.Close()
	defer debug.SetGCPercent(debug.SetGCPercent(tableGCPercent))
	read, err := of.read(content.Reader, table)
	if errors.Is(err, tables.ErrKeep) {
		return unkept(path, err)
	}
	if err != nil {
		return exit.Usage(fmt.Errorf("inspect %s: %w", terminal.Plain(path), err), "")
	}
	defer func() { _ = read.Close() }()
	for _, w := range read.Warnings {
		fmt.Fprintf(c.Stderr, "warning: %s\n", w)
	}
	out := bufio.NewWriter(c.Stdout)
	write := writeCSV
	if format == output.FormatJSON {
		write = writeRows
	}
	if err := errors.Join(write(out, read), out.Flush()); err != nil {
		return err
	}
	if err := read.Err(); err != nil {
		return unkept(path, err)
	}
	if read.Nothing {
		return unreadable(path, reader)
	}
	return nil
}

// unkept returns the error of rows that could not be stored in a temporary file.
func unkept(path string, err error) error {
	return exit.WithStatus(exit.StatusInfrastructure, fmt.Errorf("inspect %s: %w", terminal.Plain(path), err),
		"Rows that memory has no room for need some 100 bytes each in "+os.TempDir()+": free some space there, or name another folder in TMPDIR.")
}

// writeCSV writes a table with a header line. Unknown values are empty.
func writeCSV(out io.Writer, table *tables.Table) error {
	w := csv.NewWriter(out)
	if err := w.Write(table.Columns); err != nil {
		return err
	}
	line := make([]string, len(table.Columns))
	for row := range table.Rows {
		for i, cell := range row {
			switch v := cell.(type) {
			case nil:
				line[i] = ""
			case int64:
				line[i] = strconv.FormatInt(v, 10)
			case float64:
				line[i] = strconv.FormatFloat(v, 'f', -1, 64)
			default:
				line[i] = wording.Exact(strings.ReplaceAll(fmt.Sprint(v), "##[", "# #["))
			}
		}
		line[0] = text.NoCommands(line[0]) // a line of a runner's log may begin with it
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// writeRows writes a table as a list of objects, a line each. Unknown values are null.
func writeRows(out io.Writer, table *tables.Table) error {
	begin := "[\n"
	for row := range table.Rows {
		if _, err := io.WriteString(out, begin); err != nil {
			return err
		}
		begin = ",\n"
		for i, column := range table.Columns {
			cell, err := json.Marshal(row[i])
			if err != nil {
				return err
			}
			mark := ", "
			if i == 0 {
				mark = "{"
			}
			if _, err := fmt.Fprintf(out, "%s%q: %s", mark, column, cell); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(out, "}"); err != nil {
			return err
		}
	}
	end := "\n]\n"
	if begin == "[\n" {
		end = "[]\n"
	}
	_, err := io.WriteString(out, end)
	return err
}
