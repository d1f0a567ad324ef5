package main

import (
	"crypto/tls"
	"fmt"

	"causeway/conf"
	"causeway/share"
	"causeway/store"
)

// shareOptions tells the server over what it shares keys with other Causeways, nil for
// nothing, and how to close that.
func shareOptions(c *conf.Token) (*share.Options, func() error, error) {
	s := &c.Store
	if s.Redis == "" {
		return nil, nil, nil
	}
	secure, err := storeTLS(s)
	if err != nil {
		return nil, nil, err
	}
	client := store.New(store.Options{
		Addrs: s.Addrs(), Sentinel: s.Sentinel, Cluster: s.Cluster, User: s.User, Password: s.Password.Reveal(),
		SentinelPassword: s.SentinelPassword.Reveal(), TLS: secure, Timeout: s.Timeout, Prefix: s.Prefix,
	})
	return &share.Options{Store: client, Name: s.Name, Members: s.Proxies, Lease: s.Lease, TTL: c.KeyTTL, Timeout: s.Timeout}, client.Close, nil
}

// storeTLS reads [token.store] as backendTLS reads [backend].
func storeTLS(s *conf.TokenStore) (*tls.Config, error) {
	config, _, err := backendTLS(conf.Backend{TLS: s.TLS, CA: s.CA})
	if err != nil {
		err = fmt.Errorf("token.store: %w", err)
	}
	return config, err
}
