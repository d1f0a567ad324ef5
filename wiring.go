package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"causeway/conf"
)

// serve runs the proxy until ctx ends and everything is drained.
func serve(context.Context, *conf.Config, zerolog.Logger) error {
	return errors.New("serve: the front end is not part of this build yet")
}
