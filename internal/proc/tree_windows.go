package proc

import (
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a job object: every process that one in it starts is in it too, and
// closing it ends them all.
type tree struct {
	job windows.Handle
	err error
}

// process is one that still runs.
type process struct {
	PID  int
	Name string
}

func prepare(cmd *exec.Cmd, _ string) *tree {
	// Suspended until it is in the job: what it started before would not be.
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	t := &tree{}
	if t.job, t.err = windows.CreateJobObject(nil, nil); t.err != nil {
		return t
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, t.err = windows.SetInformationJobObject(t.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	return t
}

// started puts the first process into the job and lets it run.
func (t *tree) started(cmd *exec.Cmd) error {
	if t.err != nil {
		return fmt.Errorf("create job object: %w", t.err)
	}
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.PROCESS_SUSPEND_RESUME
	handle, err := windows.OpenProcess(access, false, uint32(cmd.Process.Pid))
	if err != nil {
		return fmt.Errorf("open process: %w", err)
	}
	defer windows.CloseHandle(handle)
	if err := windows.AssignProcessToJobObject(t.job, handle); err != nil {
		return fmt.Errorf("assign to job object: %w", err)
	}
	resume := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")
	if status, _, _ := resume.Call(uintptr(handle)); status != 0 {
		return fmt.Errorf("resume process: status %#x", status)
	}
	return nil
}

func (t *tree) maybeAlive() bool { return len(t.members()) > 0 }

// renew reports whether anything of the job still runs. A job object is never another's.
func (t *tree) renew() bool { return t.maybeAlive() }

// members returns up to a few processes of the job.
func (t *tree) members() []process {
	var list struct {
		assigned, listed uint32
		pids             [64]uintptr
	}
	const basicProcessIDList = 3
	err := windows.QueryInformationJobObject(t.job, basicProcessIDList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && err != windows.ERROR_MORE_DATA {
		return nil
	}
	var found []process
	for _, pid := range list.pids[:min(int(list.listed), len(list.pids))] {
		found = append(found, process{PID: int(pid), Name: "process"})
	}
	return found
}

// signal ends the job. There is no way to ask a tree politely.
func (t *tree) signal(bool) { _ = windows.TerminateJobObject(t.job, 1) }

func (t *tree) close() { windows.CloseHandle(t.job) }

// strays is nil: nothing here can be found that left its tree.
func strays(string) *tree { return nil }
