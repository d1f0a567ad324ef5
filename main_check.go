package main

import (
	"fmt"
	"io"

	"causeway/conf"
)

// summarise tells what a good configuration amounts to, with its warnings.
func summarise(out io.Writer, path string, c *conf.Config) {
	fmt.Fprintf(out, "%s: OK\n", path)
	http := c.Listen.HTTP
	if http == "" {
		http = "off"
	}
	certificate := c.TLS.Cert
	if certificate == "" {
		certificate = "made at start"
	}
	fmt.Fprintf(out, "  listen      mysql %s, http %s\n", c.Listen.MySQL, http)
	fmt.Fprintf(out, "  tls         certificate %s, required: %v; to the servers: %s\n", certificate, c.TLS.Required, c.Backend.TLS)
	for _, server := range c.Cluster.Servers {
		fmt.Fprintf(out, "  server      %s, weight %d\n", server, c.Cluster.Weight(server))
	}
	fmt.Fprintf(out, "  monitor     %s, every %v\n", c.Monitor.User, c.Monitor.Interval)
	for _, u := range c.Users {
		fmt.Fprintf(out, "  user        %s\n", u.Name)
	}
	fmt.Fprintf(out, "  reads       %s, at most %v stale, wait %v, then the source (%g a second, burst %g), wait %v\n",
		c.Routing.Policy, c.Routing.MaxStaleness, c.Routing.Wait, c.Fallback.QPS, c.Fallback.Burst, c.Routing.MaxWait)
	for _, w := range c.Warnings {
		fmt.Fprintf(out, "  warning     %s\n", w)
	}
}
