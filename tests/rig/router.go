package rig

import (
	"context"
	"os"
	"path/filepath"
)

// Router fetches MySQL Router if it is missing and returns the program and the
// folder with its plugins.
func Router(ctx context.Context) (program, plugins string, err error) {
	if _, err := Output(ctx, "scripts/get-mysql", "--router"); err != nil {
		return "", "", err
	}
	cache := os.Getenv("CAUSEWAY_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", "", err
		}
		cache = filepath.Join(home, ".cache", "causeway")
	}
	return filepath.Join(cache, "bin", "mysqlrouter"), filepath.Join(cache, "router", "usr", "lib", "mysqlrouter", "plugin"), nil
}
