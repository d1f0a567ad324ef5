package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"causeway/conf"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for a graceful end; from then on signals have their
	// usual effect again, so that a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args, os.Stdout, os.Stderr, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is the program without the process around it: it returns when the
// command is done, or when ctx has ended and everything is drained.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) error {
	configFlag := &cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "the configuration `FILE`", Required: true}
	app := &cli.App{
		Name:            "causeway",
		Usage:           "a MySQL proxy: reads on replicas, and no session misses its own write",
		Writer:          stdout,
		ErrWriter:       stderr,
		HideVersion:     true, // it is a command
		HideHelpCommand: true,
		ExitErrHandler:  func(*cli.Context, error) {}, // run returns errors, main exits
		OnUsageError:    usageError,
		Action:          noCommand,
		Commands: []*cli.Command{{
			Name: "serve", Usage: "run the proxy until SIGTERM or SIGINT", Flags: []cli.Flag{configFlag}, OnUsageError: usageError,
			Action: func(c *cli.Context) error {
				cfg, err := loadOnly(c, getenv)
				if err != nil {
					return err
				}
				hup := make(chan os.Signal, 1)
				signal.Notify(hup, syscall.SIGHUP)
				defer signal.Stop(hup)
				again := reloader{func() (*conf.Config, error) { return loadOnly(c, getenv) }, hup}
				return serve(c.Context, cfg, newLogger(cfg.Log, stderr), again)
			},
		}, {
			Name: "check", Usage: "check a configuration and name every mistake in it", Flags: []cli.Flag{configFlag}, OnUsageError: usageError,
			Action: func(c *cli.Context) error {
				cfg, err := loadOnly(c, getenv)
				if err != nil {
					return err
				}
				summarise(stdout, c.String("config"), cfg)
				return nil
			},
		}, explainCommand(configFlag, stdout, getenv), {
			Name: "version", Usage: "print version, commit and Go version", OnUsageError: usageError,
			Action: func(c *cli.Context) error {
				if err := noArguments(c); err != nil {
					return err
				}
				printVersion(stdout)
				return nil
			},
		}},
	}
	return app.RunContext(ctx, args)
}

// loadOnly reads the configuration of a command that takes nothing else.
func loadOnly(c *cli.Context, getenv func(string) string) (*conf.Config, error) {
	if err := noArguments(c); err != nil {
		return nil, err
	}
	return conf.Load(c.String("config"), getenv)
}

func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return fmt.Errorf("causeway %s: unexpected argument %q; see causeway %[1]s --help", c.Command.Name, c.Args().First())
	}
	return nil
}

// noCommand runs when the first argument is no command.
func noCommand(c *cli.Context) error {
	if c.Args().Present() {
		return fmt.Errorf("causeway: no command %q; see causeway --help", c.Args().First())
	}
	if err := cli.ShowAppHelp(c); err != nil {
		return err
	}
	return errors.New("causeway: give a command")
}

// usageError keeps the library from printing the whole help before an error.
func usageError(_ *cli.Context, err error, _ bool) error {
	return fmt.Errorf("causeway: %w; see causeway --help", err)
}
