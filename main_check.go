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
	fmt.Fprintf(out, "  reads       %s, as %s; the source takes over %g a second, burst %g\n",
		c.Routing.Policy, c.Routing.DefaultClass, c.Fallback.QPS, c.Fallback.Burst)
	for _, class := range c.Classes {
		fmt.Fprintf(out, "  class       %s: %s, at most %v stale, then %v\n", class.Name, class.Consistency, class.MaxStaleness, class.OnLag)
	}
	for _, rule := range rulesOf(c.Rules) {
		fmt.Fprintf(out, "  rule        %s: if %s, then %s\n", rule.Name, rule.Conditions(), rule.Effects())
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(out, "  warning     %s\n", w)
	}
}
