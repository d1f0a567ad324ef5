package conf

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fault is why a value was refused and what to write instead.
type fault struct{ wrong, instead string }

// kind reads one type of value out of what the TOML library decoded: string,
// int64, float64, bool, time.Time, []any, map[string]any or []map[string]any.
type kind[V any] struct {
	name  string // for the reference, "duration" for instance
	parse func(v any) (V, *fault)
}

// described names a value in an error. Only kinds without secrets use it.
func described(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case int64, float64, bool:
		return fmt.Sprint(v)
	default:
		return "this " + typeName(v)
	}
}

// typeName names a TOML type as the TOML specification does.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case int64:
		return "integer"
	case float64:
		return "float"
	case bool:
		return "boolean"
	case time.Time:
		return "date-time"
	case map[string]any:
		return "table"
	case []map[string]any:
		return "array of tables"
	default:
		return "array"
	}
}

func text(example string) kind[string] {
	return kind[string]{"string", func(v any) (string, *fault) {
		s, ok := v.(string)
		if !ok {
			return "", &fault{described(v) + " is no string", "write a string in quotes, such as " + example}
		}
		return s, nil
	}}
}

// secret never shows the value it refuses.
func secret() kind[Secret] {
	return kind[Secret]{"string", func(v any) (Secret, *fault) {
		s, ok := v.(string)
		if !ok {
			return Secret{}, &fault{"a password must be a string, this is of type " + typeName(v), "write it in quotes"}
		}
		return NewSecret(s), nil
	}}
}

func oneOf(values ...string) kind[string] {
	list := `"` + strings.Join(values, `", "`) + `"`
	return kind[string]{"one of " + strings.ReplaceAll(list, `"`, "`"), func(v any) (string, *fault) {
		s, ok := v.(string)
		if !ok || !slices.Contains(values, s) {
			return "", &fault{described(v) + " is not known here", "write one of " + list}
		}
		return s, nil
	}}
}

func boolean() kind[bool] {
	return kind[bool]{"boolean", func(v any) (bool, *fault) {
		b, ok := v.(bool)
		if !ok {
			return false, &fault{described(v) + " is no boolean", "write true or false, without quotes"}
		}
		return b, nil
	}}
}

func integer(low, high int64) kind[int] {
	return kind[int]{"integer", func(v any) (int, *fault) {
		n, ok := v.(int64)
		if !ok || n < low || n > high {
			return 0, &fault{described(v) + " is not possible", fmt.Sprintf("write an integer from %d to %d, without quotes", low, high)}
		}
		return int(n), nil
	}}
}

// number takes integers as well, so that 1000 need not be written 1000.0.
func number(low, high float64) kind[float64] {
	return kind[float64]{"number", func(v any) (float64, *fault) {
		var f float64
		switch n := v.(type) {
		case int64:
			f = float64(n)
		case float64:
			f = n
		default:
			f = math.NaN()
		}
		if !(f >= low && f <= high) { // so written, it refuses NaN too
			return 0, &fault{described(v) + " is not possible", fmt.Sprintf("write a number from %g to %.0f, without quotes", low, high)}
		}
		return f, nil
	}}
}

func duration(low, high time.Duration) kind[time.Duration] {
	return kind[time.Duration]{"duration", func(v any) (time.Duration, *fault) {
		instead := fmt.Sprintf(`write a time with its unit from %q to %q, such as "10ms" or "2s"`, low, high)
		s, ok := v.(string)
		if !ok {
			return 0, &fault{described(v) + " has no unit", instead}
		}
		d, err := time.ParseDuration(strings.TrimSpace(s))
		if err != nil {
			return 0, &fault{strconv.Quote(s) + " is no time with a unit", instead}
		}
		if d < low || d > high {
			return 0, &fault{strconv.Quote(s) + " is out of range", instead}
		}
		return d, nil
	}}
}

// units are MySQL's: powers of 1024.
var units = []struct {
	suffix string
	factor int64
}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}}

func size(low, high int64) kind[int] {
	return kind[int]{"size", func(v any) (int, *fault) {
		instead := fmt.Sprintf(`write a size with its unit from %q to %q, such as "64MB" (1MB is 1024KB)`, sizeText(low), sizeText(high))
		s, ok := v.(string)
		if !ok {
			return 0, &fault{described(v) + " has no unit", instead}
		}
		n, ok := parseSize(s)
		if !ok {
			return 0, &fault{strconv.Quote(s) + " is no size with a unit", instead}
		}
		if n < low || n > high {
			return 0, &fault{strconv.Quote(s) + " is out of range", instead}
		}
		return int(n), nil
	}}
}

func parseSize(s string) (int64, bool) {
	s = strings.ToUpper(strings.TrimSpace(s))
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 31)
		return int64(n) * u.factor, err == nil
	}
	return 0, false
}

func sizeText(n int64) string {
	for _, u := range slices.Backward(units) {
		if n%u.factor == 0 {
			return strconv.FormatInt(n/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}

// listenAddress takes an empty host (all interfaces) and port 0 (any free one).
func listenAddress(example string) kind[string] {
	return kind[string]{"address", func(v any) (string, *fault) {
		s, ok := v.(string)
		if !ok {
			return "", &fault{described(v) + " is no address", "write host:port, such as " + example}
		}
		if f := checkAddress(s, true); f != nil {
			return "", &fault{f.wrong, "write host:port, such as " + example}
		}
		return s, nil
	}}
}

func optionalAddress(example string) kind[string] {
	inner := listenAddress(example)
	return kind[string]{"address", func(v any) (string, *fault) {
		if v == "" {
			return "", nil
		}
		return inner.parse(v)
	}}
}

// checkAddress says what is wrong with a host:port, nil if nothing.
func checkAddress(s string, listen bool) *fault {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return &fault{wrong: strconv.Quote(s) + " is no host:port"}
	}
	if host == "" && !listen {
		return &fault{wrong: strconv.Quote(s) + " names no host"}
	}
	if strings.ContainsAny(host, " /@") {
		return &fault{wrong: strconv.Quote(s) + " has no valid host"}
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || (n == 0 && !listen) {
		return &fault{wrong: strconv.Quote(s) + " has no port from 1 to 65535"}
	}
	return nil
}

func serverList() kind[[]string] {
	const instead = `write host:port for each, such as servers = ["10.0.0.1:3306", "10.0.0.2:3306"]`
	return kind[[]string]{"list of addresses", func(v any) ([]string, *fault) {
		list, f := stringList(v, instead)
		if f != nil {
			return nil, f
		}
		if len(list) == 0 {
			return nil, &fault{"no server is named", instead}
		}
		var wrong []string
		seen := map[string]bool{}
		for _, s := range list {
			if f := checkAddress(s, false); f != nil {
				wrong = append(wrong, f.wrong)
			} else if seen[s] {
				wrong = append(wrong, strconv.Quote(s)+" is named twice")
			}
			seen[s] = true
		}
		if len(wrong) > 0 {
			return nil, &fault{strings.Join(wrong, ", "), instead}
		}
		return list, nil
	}}
}

func nameList(example string) kind[[]string] {
	return kind[[]string]{"list of strings", func(v any) ([]string, *fault) {
		return stringList(v, "write a list of strings, such as "+example)
	}}
}

// subset is a list of some of values, each at most once.
func subset(values ...string) kind[[]string] {
	list := `["` + strings.Join(values, `", "`) + `"]`
	instead := "write a list with any of them, such as " + list
	return kind[[]string]{"list of strings", func(v any) ([]string, *fault) {
		chosen, f := stringList(v, instead)
		if f != nil {
			return nil, f
		}
		for i, s := range chosen {
			if !slices.Contains(values, s) {
				return nil, &fault{strconv.Quote(s) + " is not known here", instead}
			}
			if slices.Contains(chosen[:i], s) {
				return nil, &fault{strconv.Quote(s) + " is named twice", instead}
			}
		}
		return chosen, nil
	}}
}

// networkList takes single addresses too.
func networkList() kind[[]netip.Prefix] {
	const instead = `write addresses or networks, such as ["10.0.0.0/8", "192.0.2.7"]`
	return kind[[]netip.Prefix]{"list of networks", func(v any) ([]netip.Prefix, *fault) {
		list, f := stringList(v, instead)
		if f != nil {
			return nil, f
		}
		var wrong []string
		networks := make([]netip.Prefix, 0, len(list))
		for _, s := range list {
			p, err := parseNetwork(s)
			if err != nil {
				wrong = append(wrong, strconv.Quote(s)+" is no address and no network")
			}
			networks = append(networks, p)
		}
		if len(wrong) > 0 {
			return nil, &fault{strings.Join(wrong, ", "), instead}
		}
		return networks, nil
	}}
}

func parseNetwork(s string) (netip.Prefix, error) {
	if strings.Contains(s, "/") {
		p, err := netip.ParsePrefix(s)
		if err == nil && p.Addr().Is4In6() {
			err = fmt.Errorf("IPv4 written as IPv6: %q", s) // clients are compared as IPv4
		}
		return p.Masked(), err
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("no address: %q", s)
	}
	return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
}

func stringList(v any, instead string) ([]string, *fault) {
	items, ok := v.([]any)
	if !ok {
		return nil, &fault{described(v) + " is no list", instead}
	}
	list := make([]string, 0, len(items))
	for _, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil, &fault{described(item) + " in the list is no string", instead}
		}
		list = append(list, s)
	}
	return list, nil
}

func weightTable() kind[map[string]int] {
	const instead = `write a table of integers from 0 to 1000, such as weights = { "10.0.0.2:3306" = 2 }`
	return kind[map[string]int]{"table of integers", func(v any) (map[string]int, *fault) {
		table, ok := v.(map[string]any)
		if !ok {
			return nil, &fault{described(v) + " is no table", instead}
		}
		var wrong []string
		weights := map[string]int{}
		for _, server := range sortedKeys(table) {
			n, ok := table[server].(int64)
			if !ok || n < 0 || n > 1000 {
				wrong = append(wrong, fmt.Sprintf("the weight %s of %q is not possible", described(table[server]), server))
				continue
			}
			weights[server] = int(n)
		}
		if len(wrong) > 0 {
			return nil, &fault{strings.Join(wrong, ", "), instead}
		}
		return weights, nil
	}}
}

func zoneTable() kind[map[string]string] {
	const instead = `write a table of names, such as zones = { "10.0.0.2:3306" = "a" }`
	return kind[map[string]string]{"table of strings", func(v any) (map[string]string, *fault) {
		table, ok := v.(map[string]any)
		if !ok {
			return nil, &fault{described(v) + " is no table", instead}
		}
		var wrong []string
		zones := map[string]string{}
		for _, server := range sortedKeys(table) {
			zone, ok := table[server].(string)
			if !ok || zone == "" {
				wrong = append(wrong, fmt.Sprintf("the zone %s of %q is no name", described(table[server]), server))
				continue
			}
			zones[server] = zone
		}
		if len(wrong) > 0 {
			return nil, &fault{strings.Join(wrong, ", "), instead}
		}
		return zones, nil
	}}
}
