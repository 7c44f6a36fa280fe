package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/chromedp/chromedp"

	"plexus/internal/chromium"
)

const (
	framePause  = 5 * time.Millisecond // 200 frames a second
	frames      = 600                  // of a reply
	screenRuns  = 3
	screenBound = 90 * time.Second
)

// measureScreen streams replies of 200 frames a second through a daemon to its web UI in Chromium. A frame's latency is the time
// from the moment the server sends it to the first animation frame that begins with its text in the page: by then
// the frame before, which has the text, was painted.
func measureScreen(ctx context.Context, w *world) ([]row, error) {
	ctx, cancel := context.WithTimeout(ctx, screenBound)
	defer cancel()
	project := filepath.Join(w.dir, "screen-project")
	if err := os.Mkdir(project, 0o700); err != nil {
		return nil, err
	}
	d, err := w.startDaemon(ctx, filepath.Join(w.dir, "screen"))
	if err != nil {
		return nil, err
	}
	defer d.end(ctx)
	f := &film{}
	e := newEndpoint(f.play)
	defer e.close()
	if err := e.use(ctx, d); err != nil {
		return nil, err
	}
	page, closePage, err := openPage(ctx, filepath.Join(w.dir, "screen-profile"))
	if err != nil {
		return nil, err
	}
	defer closePage()
	thread, err := showThread(page, d, project)
	if err != nil {
		return nil, err
	}
	still, err := chromedp.Run(page, chromedp.Evaluate[[]float64](stillFrames, chromedp.EvalAwaitPromise))
	if err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan map[int]float64, 1)
	go func() { seen <- f.follow(watching, d, thread) }()
	var p99, p50, daemon99, all []float64
	for range screenRuns {
		latencies, err := f.screen(page, d, thread)
		if err != nil {
			return nil, err
		}
		p99 = append(p99, percentile(latencies, 99))
		p50 = append(p50, median(latencies))
		all = append(all, latencies...)
	}
	stop()
	heard := <-seen
	for run := range screenRuns {
		var latencies []float64
		for i := run * frames; i < (run+1)*frames; i++ {
			if at, ok := heard[i]; ok {
				latencies = append(latencies, at-f.sent[i])
			}
		}
		if len(latencies) > 0 {
			daemon99 = append(daemon99, percentile(latencies, 99))
		}
	}
	if w.trace {
		printFilm(all, heard, f.sent)
	}
	return []row{
		{"stream to screen at 200 frames/s, p99", "ms", p99, atMost(50)},
		{"  p50", "ms", p50, bound{}},
		{"  p99 of the way through the daemon, to another follower", "ms", daemon99, bound{}},
		{"  p99 of the time between two frames of the still page before", "ms", []float64{percentile(still, 99)}, bound{}},
	}, nil
}

// follow hears the same stream as the page and returns when each frame came, until ctx ends.
func (f *film) follow(ctx context.Context, d *daemon, thread string) map[int]float64 {
	heard := map[int]float64{}
	for u, err := range d.client.Follow(ctx, thread, 0) {
		if err != nil {
			break
		}
		if u.Live == nil || u.Live.Kind != "answer" {
			continue
		}
		at := now()
		for _, m := range frameMark.FindAllStringSubmatch(u.Live.Text, -1) {
			n, _ := strconv.Atoi(m[1]) // the expression has digits only
			if _, known := heard[n]; !known {
				heard[n] = at
			}
		}
	}
	return heard
}

var frameMark = regexp.MustCompile(`w(\d+)\.`)

// printFilm says how many frames were late, and for how many of them the daemon was.
func printFilm(latencies []float64, heard map[int]float64, sent []float64) {
	late, daemons := 0, 0
	for i, l := range latencies {
		if l <= 50 {
			continue
		}
		late++
		if heard[i]-sent[i] > l/2 {
			daemons++
		}
	}
	fmt.Fprintf(os.Stderr, "of %d frames %d took more than 50 ms to the screen; in %d of these the daemon took more than half of it\n", len(latencies), late, daemons)
}

// now is the time in milliseconds since 1970, as pages count it.
func now() float64 { return float64(time.Now().UnixMicro()) / 1000 }

// film is the replies: frames that are numbered through all of them, each with the time at which it was sent.
type film struct {
	mu   sync.Mutex
	sent []float64 // milliseconds since 1970, by number
}

func (f *film) play(ctx context.Context, _ string, say func(string) error, end func() error) {
	tick := time.NewTicker(framePause)
	defer tick.Stop()
	if say("{plx:done}") != nil {
		return
	}
	for i := range frames {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		f.mu.Lock()
		text := fmt.Sprintf("w%d. ", len(f.sent))
		f.sent = append(f.sent, now())
		f.mu.Unlock()
		if i%40 == 39 {
			text += "\n\n"
		}
		if say(text) != nil {
			return
		}
	}
	if say("{/plx:done}") == nil {
		_ = end()
	}
}

// screen has one reply played and returns the latency of each of its frames.
func (f *film) screen(page context.Context, d *daemon, thread string) ([]float64, error) {
	first := len(f.sent)
	if err := d.give(page, thread, "Show me a film"); err != nil {
		return nil, err
	}
	_, err := chromedp.Run(page, chromedp.Poll[bool](fmt.Sprintf(`bench.painted >= %d && document.querySelector('.answer.growing') === null`, first+frames-1),
		chromedp.WithPollingInterval(200*time.Millisecond), chromedp.WithPollingTimeout(turnBound)))
	if err != nil {
		return nil, fmt.Errorf("wait for the reply to be shown: %w", err)
	}
	paints, err := chromedp.Run(page, chromedp.Evaluate[[]paint](`bench.paints.splice(0)`))
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var latencies []float64
	next := first
	for _, p := range paints {
		for ; next <= p.Newest && next < len(f.sent); next++ {
			latencies = append(latencies, p.At-f.sent[next])
		}
	}
	if len(latencies) != frames {
		return nil, fmt.Errorf("%d frames of %d were seen", len(latencies), frames)
	}
	return latencies, nil
}

// paint is an animation frame and the newest number that the page had by then.
type paint struct {
	Newest int     `json:"newest"`
	At     float64 `json:"at"` // milliseconds since 1970
}

// watcher notes at each change of the page which number it has, and when the next animation frame begins.
const watcher = `(() => {
	const bench = globalThis.bench = { paints: [], painted: -1, newest: () => {
		const answers = document.querySelectorAll('.answer .prose');
		const text = answers.length ? answers[answers.length - 1].textContent : '';
		const last = /w(\d+)\.\s*$/.exec(text.slice(-40));
		return last ? Number(last[1]) : -1;
	} };
	let had = -1;
	new MutationObserver(() => {
		const newest = bench.newest();
		if (newest <= had) return;
		had = newest;
		requestAnimationFrame(() => {
			bench.paints.push({ newest, at: performance.timeOrigin + performance.now() });
			bench.painted = newest;
		});
	}).observe(document.body, { subtree: true, childList: true, characterData: true });
	return true;
})()`

// stillFrames tells what the browser does on this machine with nothing to show.
const stillFrames = `new Promise((done) => {
	const gaps = [];
	let last = performance.now();
	requestAnimationFrame(function next() {
		const now = performance.now();
		gaps.push(now - last);
		last = now;
		gaps.length < 180 ? requestAnimationFrame(next) : done(gaps);
	});
})`

// openPage starts a browser of its own with an empty page.
func openPage(ctx context.Context, profile string) (context.Context, func(), error) {
	path, err := chromium.Find()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: run `make chromium`", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.WindowSize(1280, 900))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	ctx, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	ctx, end := chromedp.NewContext(ctx)
	stop := func() { _ = chromedp.Cancel(ctx); end(); endAllocator() }
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return ctx, stop, nil
}

// showThread opens the UI at a fresh thread and starts the watcher.
func showThread(page context.Context, d *daemon, project string) (string, error) {
	folder, err := d.approve(page, project)
	if err != nil {
		return "", err
	}
	thread, err := d.thread(page, folder, "api")
	if err != nil {
		return "", err
	}
	var key struct{ URL string }
	if err := d.client.Post(page, "/api/keys", nil, &key); err != nil {
		return "", err
	}
	if err := chromedp.Do(page, chromedp.Navigate(key.URL)); err != nil {
		return "", err
	}
	for _, step := range []string{`document.querySelector('.sidebar') !== null`,
		fmt.Sprintf(`(location.hash = '#/t/%s', true)`, thread), `document.querySelector('#composer') !== null`, watcher} {
		ok, err := chromedp.Run(page, chromedp.Poll[bool](step, chromedp.WithPollingTimeout(turnBound)))
		if err != nil || !ok {
			return "", errors.Join(fmt.Errorf("show the thread in the UI: %.80s", step), err)
		}
	}
	return thread, nil
}
