package main

import (
	"context"
	"os"

	"github.com/rs/zerolog"

	"causeway/backend"
	"causeway/conf"
)

// reloader reads the configuration again on each signal and takes over what a
// running Causeway can change: the weights of the servers. A file with mistakes
// changes nothing.
type reloader struct {
	load func() (*conf.Config, error)
	hup  <-chan os.Signal
}

func (r reloader) run(ctx context.Context, view func() *backend.View, log zerolog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hup:
			cfg, err := r.load()
			if err != nil {
				log.Error().Err(err).Msg("the configuration was not taken over")
				continue
			}
			changed := applyWeights(view(), cfg.Cluster)
			log.Info().Int("weights_changed", changed).Msg("configuration read again: weights hold from now on, other changes need a restart")
		}
	}
}

// applyWeights gives every server that the configuration names its weight there and counts the changes.
func applyWeights(v *backend.View, cluster conf.Cluster) (changed int) {
	for _, n := range v.Nodes {
		if _, named := cluster.Weights[n.Addr]; n.Origin != backend.FromConfig && !named {
			continue // its weight is of another origin, too
		}
		if w := cluster.Weight(n.Addr); w != n.CurrentWeight() {
			n.Live.SetWeight(w)
			changed++
		}
	}
	return changed
}
