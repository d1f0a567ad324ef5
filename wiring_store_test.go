package main

import (
	"strings"
	"testing"
	"time"

	"causeway/conf"
)

func TestStoreOptionsReachTheParts(t *testing.T) {
	cfg := deadServers(t, `
[token]
key_ttl = "20s"
store_down = "refuse"
[token.store]
redis = "127.0.0.1:1"
name = "a"
proxies = ["a", "b"]
lease = "401ms"
timeout = "102ms"
`)
	o, err := serverOptions(cfg, nil)
	if err != nil || !o.StoreDownRefuses {
		t.Errorf("store_down: %v, %v", o.StoreDownRefuses, err)
	}
	so, end, err := shareOptions(&cfg.Token)
	if err != nil {
		t.Fatal(err)
	}
	if so.Name != "a" || strings.Join(so.Members, ",") != "a,b" || so.Lease != 401*time.Millisecond || so.Timeout != 102*time.Millisecond || so.TTL != 20*time.Second {
		t.Errorf("%+v", so)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if so, _, err := shareOptions(&conf.Token{}); so != nil || err != nil {
		t.Errorf("without a store: %+v, %v", so, err)
	}
	if _, _, err := shareOptions(&conf.Token{Store: conf.TokenStore{Redis: "r:1", TLS: conf.TLSVerify, CA: "/nowhere.pem"}}); err == nil || !strings.Contains(err.Error(), "token.store") {
		t.Errorf("a CA that is not there: %v", err)
	}
}
