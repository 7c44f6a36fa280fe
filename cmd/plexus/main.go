// Command plexus joins a chat tab, a machine and a browser. Without a command it serves.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], terminal())
	stop()
	os.Exit(code)
}
