// Package publish implements apkgate publish: the second job of a pipeline on GitLab, Gitea or
// Forgejo, which shows what an untrusted job has measured. What is posted belongs to package
// usecase/forges.
package publish

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/forges"
	"github.com/apkgate/apkgate/usecase/forges/gitea"
	"github.com/apkgate/apkgate/usecase/forges/gitlab"
	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/reproduction"
	"github.com/apkgate/apkgate/usecase/restapi"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

type flags struct {
	report, name, config, comment, reportURL string
	server, repository, number, commit       string
}

// Command returns apkgate publish.
func Command(c terminal.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Show a report on a merge or pull request of GitLab, Gitea or Forgejo",
		Long: `Shows the report that another job left (apkgate run --report), as one comment that
is updated in place and as the status of the commit. The job that runs the pull
request's code then needs no token. Nothing needs to be checked out. What is
published is decided by the environment of this job, never by the report.

It ends with 0 whatever the verdict is: the job that measured has its own result. It
ends with 2 if the report can't be read, and with 3 if the server refuses something.

On GitHub, the action's mode publish does this.`,
		Args: arguments.OnlyCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		of(c, "gitlab", "GitLab, with the variables of its CI/CD", []string{"APKGATE_TOKEN"}, func(o forges.Options) (forges.Forge, error) { return gitlab.New(o) }),
		of(c, "gitea", "Gitea or Forgejo, with the variables of their Actions", []string{"APKGATE_TOKEN", "GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN"}, func(o forges.Options) (forges.Forge, error) { return gitea.New(o) }),
	)
	return cmd
}

// of returns the command for one kind of server.
func of(c terminal.Console, name, title string, tokens []string, open func(forges.Options) (forges.Forge, error)) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   name,
		Short: "Show it on " + title,
		Long: "Shows the report on " + title + ".\nThe token comes from " + strings.Join(tokens, " or ") + "; it has no flag, since other\n" +
			"processes see a command line.",
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.publish(c, cmd, tokens, open) },
	}
	on := cmd.Flags()
	on.StringVar(&f.report, "report", "apkgate-report", "the report's folder, or a folder with one for each leg of a matrix")
	on.StringVar(&f.config, "config", "", "the path of the configuration that was measured with (default apkgate.yml)")
	on.StringVar(&f.name, "name", "", "the configuration's name; each has its own comment and status (default: its path)")
	on.StringVar(&f.comment, "comment", string(githubactions.Always), "when to comment: always, change (any verdict but a pass), inconclusive, regression or never; all but never keep an existing comment up to date")
	on.StringVar(&f.reportURL, "report-url", "", "the address at which the report's page is published")
	on.StringVar(&f.server, "server", "", "the server's address (default: the job's)")
	on.StringVar(&f.repository, "repository", "", "the repository, as owner/name (default: the job's)")
	on.StringVar(&f.number, "pull", "", "the number of the merge or pull request (default: the job's)")
	on.StringVar(&f.commit, "commit", "", "the commit that was measured (default: the job's)")
	return cmd
}

func (f *flags) publish(c terminal.Console, cmd *cobra.Command, tokens []string, open func(forges.Options) (forges.Forge, error)) error {
	on := githubactions.When(f.comment)
	if err := exit.OneOf("comment", on, []githubactions.When{
		githubactions.Always, githubactions.OnChange, githubactions.OnInconclusive, githubactions.OnRegression, githubactions.Never,
	}); err != nil {
		return err
	}
	if f.reportURL != "" && forges.Link(f.reportURL) == "" {
		return exit.Usage(fmt.Errorf("--report-url is %q, want an address: https://HOST/PATH", prose.Short(f.reportURL)), "")
	}
	path := cmp.Or(f.config, config.FileName)
	name := cmp.Or(f.name, filepath.ToSlash(path))
	if err := githubactions.CheckName(name); err != nil {
		return exit.Usage(err, "--name sets it")
	}
	token := ""
	for _, variable := range tokens {
		token = cmp.Or(token, strings.TrimSpace(c.Getenv(variable)))
	}
	if token == "" {
		return exit.Usage(errors.New("there is no token to publish with: set "+strings.Join(tokens, " or ")), "docs/ci.md says which rights it needs; GitLab's CI_JOB_TOKEN can't write notes")
	}
	log := func(text string) { fmt.Fprintln(c.Stderr, terminal.Plain(strings.ReplaceAll(text, token, "***"))) }
	clock := restapi.RealClock()
	if c.Pause != nil {
		clock.Sleep = c.Pause
	}
	forge, err := open(forges.Options{
		Getenv: c.Getenv, Server: f.server, Repository: f.repository, Number: f.number, Commit: f.commit, Token: token, Clock: clock, Log: log,
	})
	if err != nil {
		return exit.Usage(fmt.Errorf("publish: %w", err), "outside of the server's own CI, set --server, --repository, --pull and --commit")
	}
	p := forges.Publisher{
		Forge: forge, Name: name, Config: reproduction.Config(c.Workspace("."), path), CommentOn: on, ReportURL: f.reportURL,
		Catalogue: settings.CatalogueAt(path), Log: log, Sleep: clock.Sleep,
	}
	var errs []error
	for _, err := range p.Publish(cmd.Context(), f.report) {
		if errors.Is(err, forges.ErrReport) {
			errs = append(errs, exit.Usage(err, "the job that measures leaves it: apkgate run --report FOLDER"))
			continue
		}
		errs = append(errs, exit.WithStatus(exit.StatusInfrastructure, err, forge.Hint(restapi.StatusOf(err))))
	}
	return errors.Join(errs...)
}
