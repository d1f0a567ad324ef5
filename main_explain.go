package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/rs/zerolog"
	"github.com/urfave/cli/v2"

	"causeway/conf"
)

// explainCommand is causeway explain: where a statement would go, and why.
func explainCommand(configFlag cli.Flag, stdout io.Writer, getenv func(string) string) *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "say where a statement of a new session would go now, and why, without running it", ArgsUsage: "'SQL'",
		Flags: []cli.Flag{configFlag,
			&cli.StringFlag{Name: "user", Usage: "the `ACCOUNT` of the session (default: the first of [[users]])"},
			&cli.StringFlag{Name: "schema", Usage: "the session's current `SCHEMA`"}},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return errors.New("causeway explain: give one statement, in quotes; see causeway explain --help")
			}
			cfg, err := conf.Load(c.String("config"), getenv)
			if err != nil {
				return err
			}
			user := c.String("user")
			if user == "" {
				user = cfg.Users[0].Name
			}
			return explain(c.Context, cfg, stdout, user, c.String("schema"), c.Args().First())
		},
	}
}

// explain looks at the cluster once, as serve does before it accepts clients.
// No port is opened.
func explain(ctx context.Context, cfg *conf.Config, out io.Writer, user, schema, sql string) error {
	p, err := assemble(cfg, zerolog.Nop())
	if err != nil {
		return fmt.Errorf("causeway: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_ = p.monitor.Run(ctx) // it ends with ctx
	}()
	p.awaitFirstLook(ctx)
	rows, err := p.front.Explain(user, schema, sql)
	stop()
	<-watched
	if err != nil {
		return fmt.Errorf("causeway explain: %w", err)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%s\n", row[0], row[1])
	}
	return table.Flush()
}
