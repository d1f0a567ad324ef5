package main

import (
	"slices"

	"causeway/balance"
	"causeway/conf"
	"causeway/replicamon"
	"causeway/server"
)

// classesOf turns the configured classes into the server's. The reads of
// sessions that have written nothing have F1's share of the fallback budget.
func classesOf(list []conf.Class, warm []string) ([]server.Class, error) {
	empty := 1.0
	for _, c := range list {
		if c.Name == "F1" {
			empty = c.BudgetShare
		}
	}
	classes := make([]server.Class, len(list))
	for i, c := range list {
		consistency, err := server.ParseConsistency(c.Consistency)
		if err != nil {
			return nil, err
		}
		onLag, err := stepsOf(c.OnLag)
		if err != nil {
			return nil, err
		}
		onLagEmpty, err := stepsOf(c.OnLagEmpty)
		if err != nil {
			return nil, err
		}
		classes[i] = server.Class{
			Index: i, Name: c.Name, Consistency: consistency, MaxStaleness: c.MaxStaleness, OnLag: onLag, OnLagEmpty: onLagEmpty,
			Priority: c.Priority, BudgetShare: c.BudgetShare, EmptyShare: empty, LagLimit: c.LagLimit, ZoneLagLimit: c.ZoneLagLimit, PromoteOnToken: c.PromoteOnToken, Monotonic: c.Monotonic, Timeout: c.Timeout,
			WarmupAllow: slices.Contains(warm, c.Name),
		}
	}
	return classes, nil
}

// lagLimits are the limits of the classes that have one, in their order: by that
// the server numbers them too (server.Class.HasLagLimit).
func lagLimits(list []conf.Class) []replicamon.LagLimit {
	var limits []replicamon.LagLimit
	for _, c := range list {
		if c.Consistency != conf.ConsistencySource {
			limits = append(limits, replicamon.LagLimit{Name: c.Name, P95: c.LagLimit, FarP95: c.ZoneLagLimit})
		}
	}
	return limits
}

// brownoutLimits are the configured ones: pressure must show before statements
// fail for want of a connection.
func brownoutLimits(cfg *conf.Config) balance.BrownoutLimits {
	b := cfg.Brownout
	return balance.BrownoutLimits{Wait: min(b.Wait, cfg.Pool.Wait/2), Step: b.Step, Recover: b.Recover}
}

func stepsOf(list []conf.Step) ([]server.Step, error) {
	steps := make([]server.Step, len(list))
	for i, s := range list {
		kind, err := server.ParseStepKind(s.Kind)
		if err != nil {
			return nil, err
		}
		steps[i] = server.Step{Kind: kind, Wait: s.Wait}
	}
	return steps, nil
}

func rulesOf(list []conf.Rule) []server.Rule {
	rules := make([]server.Rule, len(list))
	for i, r := range list {
		rules[i] = server.Rule{
			Name: r.Name, Digest: r.Digest, Regex: r.Regex, Table: r.Table, User: r.User, Schema: r.Schema, Client: r.Client,
			Class: r.Class, MaxClass: r.MaxClass, Deny: r.Deny, ToSource: r.Target == conf.TargetSource, Timeout: r.Timeout, Comment: r.Comment,
		}
	}
	return rules
}
