package githubactions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

// MaxEvent is the maximum size of an event payload, in bytes.
const MaxEvent = 8 << 20

// Job is what a workflow's job is about, by the runner's environment and the event. On workflow_run
// it is about the run that triggered it.
type Job struct {
	Owner, Repo string
	Event       string               // the name of the event: "pull_request"
	Run         matrixcomment.RunRef // the run that measured
	HeadSHA     string               // the commit that was measured, in the pull request's branch
	Merge       string               // the commit that the job checks out, if that is a merge of the pull request; "" if it is none
	Ref         string               // "refs/pull/7/merge"
	Pull        *Pull                // nil if the event is about none, or it is not known yet
	RunURL      string               // the page of the run that measured
	server      string               // GitHub's address, without a slash at the end
	// DefaultBranch is the repository's, "" if the event does not contain it.
	DefaultBranch string
	// Asked is what a comment or a label asks, nil for other events. On a comment, HeadSHA and Ref
	// are the main branch's.
	Asked  *Asked
	source *headSource
	sender account
}

// Pull is a pull request.
type Pull struct {
	Number           int
	HeadSHA, HeadRef string
	BaseSHA, BaseRef string
	MergeBase        string // where the head left its base; "" until FindMergeBase
	Fork             bool   // the head is in another repository
	Closed           bool   // or merged; only known of what the API returned
}

// headSource identifies the head of a triggering run, by which a fork's pull request is found.
type headSource struct{ repository, owner, branch, sha string }

// ArtifactsURL returns the page with the artifacts of the run that measured, "" if unknown.
func (j Job) ArtifactsURL() string {
	if j.RunURL == "" {
		return ""
	}
	return j.RunURL + "#artifacts"
}

// linked returns an abbreviated commit of the repository as a link, for a comment.
func (j Job) linked(commit string) string {
	if !commitID.MatchString(commit) {
		return ""
	}
	return fmt.Sprintf("[`%.10s`](%s/%s/%s/commit/%s)", commit, j.server, j.Owner, j.Repo, commit)
}

// Repository returns "owner/name".
func (j Job) Repository() string { return j.Owner + "/" + j.Repo }

// payload is the part of an event that is read. GitHub writes it; names of branches in it are
// chosen by the author of the pull request.
type payload struct {
	Repository  repository   `json:"repository"`
	PullRequest *pullRequest `json:"pull_request"`
	WorkflowRun *workflowRun `json:"workflow_run"`
	MergeGroup  *struct {
		HeadSHA string `json:"head_sha"`
	} `json:"merge_group"`
	asking asking
}

type repository struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
	// DefaultBranch is set for the workflow's own repository.
	DefaultBranch string `json:"default_branch"`
	Owner         struct {
		Login string `json:"login"`
	} `json:"owner"`
}

type pullRequest struct {
	Number int    `json:"number"`
	Head   branch `json:"head"`
	Base   branch `json:"base"`
}

type branch struct {
	SHA  string      `json:"sha"`
	Ref  string      `json:"ref"`
	Repo *repository `json:"repo"` // null if the fork was deleted
}

type workflowRun struct {
	ID             int64         `json:"id"`
	Number         int64         `json:"run_number"`
	Attempt        int64         `json:"run_attempt"`
	Event          string        `json:"event"`
	HeadSHA        string        `json:"head_sha"`
	HeadBranch     string        `json:"head_branch"`
	HeadRepository *repository   `json:"head_repository"`
	PullRequests   []pullRequest `json:"pull_requests"`
}

// ReadJob reads the job's environment and its event.
func ReadJob(getenv func(string) string) (Job, error) {
	j := Job{Event: getenv("GITHUB_EVENT_NAME"), HeadSHA: getenv("GITHUB_SHA"), Ref: getenv("GITHUB_REF")}
	full := getenv("GITHUB_REPOSITORY")
	var ok bool
	if j.Owner, j.Repo, ok = strings.Cut(full, "/"); !ok || !slug.MatchString(j.Owner) || !slug.MatchString(j.Repo) {
		return j, fmt.Errorf("read the job's environment: GITHUB_REPOSITORY is %.100q, want owner/name", full)
	}
	j.Run = matrixcomment.RunRef{ID: matrixcomment.Number(getenv("GITHUB_RUN_ID")), Number: matrixcomment.Number(getenv("GITHUB_RUN_NUMBER")), Attempt: max(1, matrixcomment.Number(getenv("GITHUB_RUN_ATTEMPT")))}
	p, err := readEvent(getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return j, err
	}
	j.take(p)
	j.DefaultBranch = p.Repository.DefaultBranch
	j.sender, j.Asked = p.asking.Sender, j.askedBy(p.asking)
	if j.HeadSHA != "" && !commitID.MatchString(j.HeadSHA) {
		return j, fmt.Errorf("read the event: the commit is %.80q, want its hexadecimal id", j.HeadSHA)
	}
	server := getenv("GITHUB_SERVER_URL")
	if server == "" {
		server = "https://github.com"
	}
	j.server = strings.TrimRight(server, "/")
	if j.Run.ID > 0 {
		j.RunURL = fmt.Sprintf("%s/%s/%s/actions/runs/%d/attempts/%d", j.server, j.Owner, j.Repo, j.Run.ID, j.Run.Attempt)
	}
	return j, nil
}

var (
	slug     = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)
	commitID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
)

// IsCommit reports whether a text is the full id of a commit.
func IsCommit(s string) bool { return commitID.MatchString(s) }

// readEvent reads the payload file; none is an empty payload.
func readEvent(path string) (payload, error) {
	var p payload
	if path == "" {
		return p, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return p, fmt.Errorf("read the event's payload: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxEvent+1))
	if err == nil && len(data) > MaxEvent {
		err = fmt.Errorf("it is larger than %d MiB", MaxEvent>>20)
	}
	if err != nil {
		return p, fmt.Errorf("read the event's payload: %w", err)
	}
	err = json.Unmarshal(data, &p)
	if err == nil {
		err = json.Unmarshal(data, &p.asking)
	}
	if err != nil {
		return p, fmt.Errorf("read the event's payload: %w", err)
	}
	return p, nil
}

// take fills in the event's fields.
func (j *Job) take(p payload) {
	switch {
	case p.WorkflowRun != nil && j.Event == "workflow_run":
		j.triggered(*p.WorkflowRun, p.Repository)
	case p.PullRequest != nil:
		j.Pull = p.PullRequest.pull(j.Repository())
		if j.Event == "pull_request" && j.HeadSHA != j.Pull.HeadSHA {
			j.Merge = j.HeadSHA // of pull_request_target it is the base's own
		}
		j.HeadSHA = j.Pull.HeadSHA
	case p.MergeGroup != nil:
		j.HeadSHA = p.MergeGroup.HeadSHA
	}
}

// triggered takes a finished run for the one that measured. GitHub lists the pull requests of the
// run's head; one whose base is in another repository is a fork's own, and is ignored. For a head
// in a fork the list is empty.
func (j *Job) triggered(w workflowRun, ours repository) {
	j.Run = matrixcomment.RunRef{ID: w.ID, Number: w.Number, Attempt: max(1, w.Attempt)}
	j.HeadSHA = w.HeadSHA
	if w.Event != "pull_request" && w.Event != "pull_request_target" {
		return
	}
	if w.HeadRepository != nil {
		j.source = &headSource{w.HeadRepository.FullName, w.HeadRepository.Owner.Login, w.HeadBranch, w.HeadSHA}
	}
	var own []pullRequest
	for _, pr := range w.PullRequests {
		if pr.Base.Repo != nil && pr.Base.Repo.ID == ours.ID && ours.ID != 0 {
			own = append(own, pr)
		}
	}
	if len(own) == 1 && own[0].Number > 0 {
		j.Pull = own[0].pull(j.Repository())
		j.Pull.HeadSHA = w.HeadSHA
		j.Pull.Fork = j.source != nil && !strings.EqualFold(j.source.repository, j.Repository())
	}
}

func (p pullRequest) pull(ours string) *Pull {
	head := p.Head.Repo
	return &Pull{
		Number:  p.Number,
		HeadSHA: p.Head.SHA, HeadRef: p.Head.Ref,
		BaseSHA: p.Base.SHA, BaseRef: p.Base.Ref,
		Fork: head == nil || (head.FullName != "" && !strings.EqualFold(head.FullName, ours)),
	}
}

// errNoPull reports that no pull request was found for the event.
var errNoPull = errors.New("the event is about no open pull request of this repository")
