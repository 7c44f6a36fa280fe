package proc

import (
	"os"
	"os/exec"
	"sync"
	"time"
)

// job is one command at work: its process tree and the reader of its output.
// It may outlive its call, when something of it runs on in the background.
type job struct {
	r      *Runner
	cmd    *exec.Cmd
	tree   *tree
	pipe   *os.File // the end that is read
	output *output

	exited chan struct{} // closed when the first process has been waited for
	read   chan struct{} // closed when the pipe has no writer any more
	wrote  chan struct{} // has a value when there was output lately
	once   sync.Once
}

// start starts a command with both its outputs on one pipe, so that they stay
// in order.
func (r *Runner) start(cmd *exec.Cmd, mark string, out *output) (*job, error) {
	pipe, childEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = childEnd, childEnd
	j := &job{r: r, cmd: cmd, tree: prepare(cmd, mark), pipe: pipe, output: out,
		exited: make(chan struct{}), read: make(chan struct{}), wrote: make(chan struct{}, 1)}
	err = cmd.Start()
	childEnd.Close()
	if err != nil {
		pipe.Close()
		j.tree.close()
		return nil, err
	}
	if err := j.tree.started(cmd); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		pipe.Close()
		j.tree.close()
		return nil, err
	}
	go j.readAll()
	go func() {
		defer close(j.exited)
		_ = cmd.Wait() // the state says it
	}()
	return j, nil
}

// readAll reads until nobody holds the other end, or end closes ours.
func (j *job) readAll() {
	defer close(j.read)
	buf := make([]byte, 64<<10)
	for {
		n, err := j.pipe.Read(buf)
		if n > 0 {
			j.output.Write(buf[:n])
			select {
			case j.wrote <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// drain waits for the rest of the output after the first process has ended: to
// its end, or until a background process that holds it has been quiet for a
// while, or a while longer for one that is not.
func (j *job) drain() (ended bool) {
	atMost := time.NewTimer(drainAtMost)
	defer atMost.Stop()
	silence := time.NewTimer(quiet)
	defer silence.Stop()
	for {
		select {
		case <-j.read:
			return true
		case <-j.wrote:
			silence.Reset(quiet)
		case <-silence.C:
			return false
		case <-atMost.C:
			return false
		}
	}
}

// state is how the first process ended, nil while it has not.
func (j *job) state() *os.ProcessState {
	select {
	case <-j.exited:
		return j.cmd.ProcessState // not written any more
	default:
		return nil
	}
}

// end ends the tree of a job, and reports whether that helped.
func (j *job) end() bool { return end(j.tree, j.exited, j.r.opts.Grace) }

// end ends a tree: it is asked to, given the grace, and killed. It returns
// true when nothing of it runs, and false when even that did not help: the system may
// hold on to a process. exited is closed when the first process has been waited for;
// nil when that is not ours to do.
func end(t *tree, exited <-chan struct{}, grace time.Duration) bool {
	t.signal(false)
	return gone(t, exited, grace, nil) || gone(t, exited, killWithin, func() { t.signal(true) })
}

// gone waits until nothing of the tree runs, and calls again before each look,
// since a tree that forks can be faster than one signal.
func gone(t *tree, exited <-chan struct{}, within time.Duration, again func()) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if again != nil {
			again()
		}
		if exited == nil && len(t.members()) == 0 {
			return true
		}
		select {
		case <-exited:
			exited = nil
		case <-tick.C:
		case <-deadline.C:
			return false
		}
	}
}

// over reports whether nothing of a job that was left runs any more, and
// releases it.
func (j *job) over() bool {
	select {
	case <-j.read:
	default:
		return false
	}
	if j.state() == nil || j.renew() || len(j.tree.members()) > 0 {
		return false
	}
	j.close()
	return true
}

// renew brings what is known of a job that was left up to date, and reports whether some of that
// runs. Numbers of what has ended may be others' by now: without it, end would take those for its own.
func (j *job) renew() bool {
	if j.state() == nil { // as long as the first process was not waited for its number is its own
		return true
	}
	return j.tree.renew()
}

// close stops reading and releases the tree.
func (j *job) close() {
	j.once.Do(func() {
		j.pipe.Close()
		<-j.read
		j.output.close()
		j.tree.close()
	})
}
