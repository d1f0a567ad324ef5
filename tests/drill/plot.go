package main

import (
	"fmt"
	"image/color"
	"slices"
	"time"

	"causeway/tests/chart"
)

// draw writes the plot as PNG: on the left where the reads of each kind of
// client went, on the right their age, the budget, the source and the replicas.
func (e *evidence) draw(file string) error {
	right := []func() (*chart.Panel, error){e.agePanel, e.budgetPanel, e.sourcePanel, e.lagPanel}
	var rows [][]*chart.Panel
	for k := range kind(kindCount) {
		reads, err := e.panel(k.String()+": reads a second", e.destinations(k))
		if err != nil {
			return err
		}
		beside, err := right[k]()
		if err != nil {
			return err
		}
		rows = append(rows, []*chart.Panel{reads, beside})
	}
	return chart.SaveGrid(file, rows)
}

// panel is a plot over time with the phases' borders.
func (e *evidence) panel(title string, curves []chart.Curve) (*chart.Panel, error) {
	p, err := chart.Lines(title, "seconds: calm | surge | recovery | after", "", curves)
	if err != nil {
		return nil, err
	}
	p.X.Max, p.Y.Max = e.end.Seconds(), 1.25*max(p.Y.Max, 1) // room for the legend
	var starts []float64
	for _, start := range e.starts[surge:] {
		starts = append(starts, start.Seconds())
	}
	return p, chart.Borders(p, starts...)
}

// second is the place of a read on the axis of the plot.
func second(at time.Duration) int { return int(at / time.Second) }

// rate counts the reads in each second.
func (e *evidence) rate(match func(read) bool) []chart.Point {
	points := make([]chart.Point, second(e.end))
	for i := range points {
		points[i].X = float64(i)
	}
	for _, r := range e.reads {
		if i := second(r.at); i < len(points) && match(r) {
			points[i].Y++
		}
	}
	return points
}

// destinations are where the reads of a kind went.
func (e *evidence) destinations(k kind) []chart.Curve {
	return []chart.Curve{
		{Name: "replica", Colour: chart.Blue, Points: e.rate(func(r read) bool { return r.kind == k && r.role == "replica" && r.outcome == fresh })},
		{Name: "replica, marked stale", Colour: chart.Orange, Points: e.rate(func(r read) bool { return r.kind == k && r.outcome == stale })},
		{Name: "source", Colour: chart.Red, Points: e.rate(func(r read) bool { return r.kind == k && r.role == "source" })},
		{Name: "error", Colour: chart.Black, Points: e.rate(func(r read) bool { return r.kind == k && r.err != "" })},
	}
}

// oldest is the greatest age in each second.
func (e *evidence) oldest(match func(read) bool) []chart.Point {
	points := make([]chart.Point, second(e.end))
	for i := range points {
		points[i].X = float64(i)
	}
	for _, r := range e.reads {
		if i := second(r.at); i < len(points) && r.err == "" && match(r) {
			points[i].Y = max(points[i].Y, r.age.Seconds())
		}
	}
	return points
}

func (e *evidence) agePanel() (*chart.Panel, error) {
	unmarked := func(k kind) []chart.Point {
		return e.oldest(func(r read) bool { return r.kind == k && r.outcome == fresh })
	}
	return e.panel("Oldest read of each second: seconds", []chart.Curve{
		{Name: "F0, own write", Colour: chart.Blue, Points: unmarked(own)},
		{Name: "F0, no token", Colour: chart.Green, Points: unmarked(unwritten)},
		{Name: "F1", Colour: chart.Red, Points: unmarked(listing)},
		{Name: "F1, marked stale", Colour: chart.Orange, Points: e.oldest(func(r read) bool { return r.kind == listing && r.outcome == stale })},
		{Name: "F2", Colour: chart.Black, Points: unmarked(report)},
	})
}

// growth is a counter's rate from sample to sample.
func (e *evidence) growth(counter func(sample) float64) []chart.Point {
	var points []chart.Point
	for i := 1; i < len(e.samples); i++ {
		a, b := e.samples[i-1], e.samples[i]
		if took := (b.to - a.to).Seconds(); took > .5 { // the last one may follow at once
			points = append(points, chart.Point{X: b.to.Seconds(), Y: (counter(b) - counter(a)) / took})
		}
	}
	return points
}

func (e *evidence) flat(y float64) []chart.Point {
	return []chart.Point{{X: 0, Y: y}, {X: e.end.Seconds(), Y: y}}
}

func (e *evidence) budgetPanel() (*chart.Panel, error) {
	return e.panel("Fallbacks a second and the budget", []chart.Curve{
		{Name: "granted", Colour: chart.Red, Points: e.growth(func(s sample) float64 { return s.used })},
		{Name: "refused", Colour: chart.Orange, Points: e.growth(func(s sample) float64 { return s.refused })},
		{Name: fmt.Sprintf("budget (and %d at once)", budgetBurst), Colour: chart.Black, Points: e.flat(budgetQPS)},
	})
}

func (e *evidence) sourcePanel() (*chart.Panel, error) {
	curves := []chart.Curve{{Name: "all, by its own count", Colour: chart.Red, Points: e.growth(func(s sample) float64 { return float64(s.reads()) })}}
	for k, colour := range [...]color.Color{own: chart.Blue, unwritten: chart.Green, listing: chart.Orange} {
		curves = append(curves, chart.Curve{Name: kind(k).String(), Colour: colour, Points: e.growth(func(s sample) float64 { return float64(s.onSource[k]) })})
	}
	return e.panel("Reads a second on the source", append(curves, chart.Curve{Name: "budget", Colour: chart.Black, Points: e.flat(budgetQPS)}))
}

func (e *evidence) lagPanel() (*chart.Panel, error) {
	var curves []chart.Curve
	for i, colour := range []color.Color{chart.Blue, chart.Orange} {
		var points []chart.Point
		for _, s := range e.samples {
			points = append(points, chart.Point{X: s.to.Seconds(), Y: s.lags[i].Seconds()})
		}
		curves = append(curves, chart.Curve{Name: fmt.Sprintf("replica %d", i+1), Colour: colour, Points: points})
	}
	for i, steps := range e.excluded() {
		curves = append(curves, chart.Curve{Name: fmt.Sprintf("replica %d excluded for F1", i+1), Colour: []color.Color{chart.Green, chart.Red}[i%2], Points: steps})
	}
	return e.panel("How far behind the replicas are: seconds", curves)
}

// excluded are steps, one line a replica: 1 while it is excluded under F1's limit.
func (e *evidence) excluded() [][]chart.Point {
	lines := make([][]chart.Point, len(e.nodes))
	for _, c := range e.changes {
		i := slices.Index(e.nodes, c.node)
		if i < 0 || c.limit != kinds[listing].class {
			continue
		}
		to := 0.0
		if c.excluded {
			to = 1
		}
		x := c.at.Seconds()
		lines[i] = append(lines[i], chart.Point{X: x, Y: 1 - to}, chart.Point{X: x, Y: to})
	}
	return lines
}
