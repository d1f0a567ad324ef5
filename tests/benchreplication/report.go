package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"causeway/tests/chart"
	"causeway/tests/rig"
)

// report is all that was measured.
type report struct {
	opts     options
	alone    float64 // transactions a second that one worker applied alone
	load     float64 // transactions a second that were wanted
	outcomes map[setting][]outcome
}

// median is the middle of one figure over a setting's rounds.
func median[T time.Duration | float64](all []outcome, figure func(outcome) T) T {
	var v []T
	for _, o := range all {
		v = append(v, figure(o))
	}
	return rig.Median(v)
}

// print writes the table, in Markdown.
func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%d clients write %.0f transactions a second for %v, %.1f times what one worker applies alone (%.0f);\n",
		r.opts.clients, r.load, r.opts.time, r.opts.overload, r.alone)
	fmt.Fprintf(w, "each group commit of the replica waits %v. Medians of %d interleaved rounds.\n\n", r.opts.sync, r.opts.rounds)
	t := rig.NewTable(w, "workers", "commit order", "written a second", "applied a second", "apply lag, average", "maximum", "time to recover", "transport lag, maximum")
	for _, s := range r.opts.settings() {
		all := r.outcomes[s]
		order := "preserved"
		if !s.ordered {
			order = "free"
		}
		perSec := func(figure func(outcome) float64) string { return fmt.Sprintf("%.0f", median(all, figure)) }
		length := func(figure func(outcome) time.Duration) time.Duration { return ms(median(all, figure)) }
		t.Row(s.workers, order,
			perSec(func(o outcome) float64 { return o.written }),
			perSec(func(o outcome) float64 { return o.applied }),
			length(func(o outcome) time.Duration { return o.average }),
			length(func(o outcome) time.Duration { return o.highest }),
			length(func(o outcome) time.Duration { return o.recovery }),
			length(func(o outcome) time.Duration { return o.transport }))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if written := r.lowest(); written < heldShare*r.load {
		fmt.Fprintf(w, "\nThe load was not held: under one setting only %.0f transactions a second were written. The machine is too busy\nfor these settings to be compared.\n", written)
	}
	return nil
}

// heldShare is the part of the load that must have been written under each setting.
const heldShare = .9

// lowest is the smallest rate at which the load was written under a setting.
func (r *report) lowest() float64 {
	lowest := r.load
	for _, all := range r.outcomes {
		lowest = min(lowest, median(all, func(o outcome) float64 { return o.written }))
	}
	return lowest
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// typical is the round of the middle maximum: the one that is drawn.
func typical(all []outcome) outcome {
	s := slices.Clone(all)
	slices.SortFunc(s, func(a, b outcome) int { return int(a.highest - b.highest) })
	return s[(len(s)-1)/2]
}

// draw plots apply lag over time, a curve for each setting.
func (r *report) draw(file string) error {
	var curves []chart.Curve
	for i, s := range r.opts.settings() {
		// The two of one number of workers have one colour.
		c := chart.Curve{Name: s.String(), Colour: chart.Colours[i/2*2%len(chart.Colours)], Dashed: !s.ordered}
		for _, p := range typical(r.outcomes[s]).points {
			c.Points = append(c.Points, chart.Point{X: p.at.Seconds(), Y: p.apply.Seconds()})
		}
		curves = append(curves, c)
	}
	title := fmt.Sprintf("Apply lag; the load of %.0f transactions a second ends at %v", r.load, r.opts.time)
	panel, err := chart.Lines(title, "seconds since the load began", "seconds behind", curves)
	if err != nil {
		return err
	}
	return chart.Save(file, panel)
}

// writeData writes every sample of every round as CSV.
func (r *report) writeData(file string) error {
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
	return rig.WriteCSV(file, func(write func(...string)) {
		write("workers", "preserve_commit_order", "round", "seconds", "apply_lag_seconds", "transport_lag_seconds")
		for _, s := range r.opts.settings() {
			for round, o := range r.outcomes[s] {
				for _, p := range o.points {
					write(strconv.Itoa(s.workers), strconv.FormatBool(s.ordered), strconv.Itoa(round+1), seconds(p.at), seconds(p.apply), seconds(p.transport))
				}
			}
		}
	})
}
