package rig

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the command of a program until it ends or is interrupted; an error is
// told with the program's name, and makes the exit code 1.
func Main(name string, command func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}
