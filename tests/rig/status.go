package rig

import (
	"context"
	"fmt"
	"strconv"

	"causeway/tests/cluster"
)

// Status reads one of a node's global status counters, such as Com_select.
func Status(ctx context.Context, n *cluster.Node, name string) (int64, error) {
	text, err := n.Value(ctx, "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = ?", name)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s on %s: %w", name, n.Name, err)
	}
	return v, nil
}
