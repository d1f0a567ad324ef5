package chart

import (
	"errors"
	"fmt"
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Colours that are told apart by those who see no red or green, too.
var (
	Red    color.Color = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	Orange color.Color = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	Blue   color.Color = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	Green  color.Color = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	Black  color.Color = color.RGBA{0x20, 0x20, 0x20, 0xff}
	grey   color.Color = color.RGBA{0xb0, 0xb0, 0xb0, 0xff}
)

// Colours are these and more, for as many curves or bars as there may be.
var Colours = []color.Color{
	Red, Orange, Blue, color.RGBA{0x56, 0xb4, 0xe9, 0xff}, Green, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	Black, grey, color.RGBA{0xf0, 0xe4, 0x42, 0xff},
	color.RGBA{0x88, 0x22, 0x55, 0xff}, color.RGBA{0x33, 0x22, 0x88, 0xff}, color.RGBA{0x99, 0x99, 0x33, 0xff},
}

// Panel is one diagram.
type Panel = plot.Plot

// Point is one value of a curve.
type Point struct{ X, Y float64 }

// Curve is one line of a panel.
type Curve struct {
	Name   string
	Colour color.Color
	Dashed bool
	Points []Point
}

// Lines is a panel of curves; one without points is left out.
func Lines(title, x, y string, curves []Curve) (*Panel, error) {
	p := panel(title, y)
	p.X.Label.Text, p.X.Min, p.X.Max = x, 0, 1
	for _, c := range curves {
		if len(c.Points) == 0 {
			continue
		}
		points := make(plotter.XYs, len(c.Points))
		for i, at := range c.Points {
			points[i].X, points[i].Y = at.X, at.Y
		}
		l, err := plotter.NewLine(points)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", title, c.Name, err)
		}
		l.Color, l.Width = c.Colour, vg.Points(1.4)
		if c.Dashed {
			l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(l)
		p.Legend.Add(c.Name, l)
	}
	p.Y.Max *= 1.1
	return p, nil
}

// Borders draws lines from the bottom to the top of a panel.
func Borders(p *Panel, at ...float64) error {
	for _, x := range at {
		border, err := plotter.NewLine(plotter.XYs{{X: x, Y: 0}, {X: x, Y: p.Y.Max}})
		if err != nil {
			return err
		}
		border.Color, border.Dashes = grey, []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(border)
	}
	return nil
}

// Series is one colour of a panel of bars: a value for each group.
type Series struct {
	Name   string
	Colour color.Color
	Values []float64
}

// Bars is a panel in which each group has a bar of each series. Of several
// panels of the same series one needs a legend.
func Bars(title, y string, groups []string, series []Series, legend bool) (*Panel, error) {
	p := panel(title, y)
	width := vg.Points(min(16, 500/float64(len(groups)*len(series)+1)))
	for i, s := range series {
		b, err := plotter.NewBarChart(plotter.Values(s.Values), width)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", title, s.Name, err)
		}
		b.Color, b.LineStyle.Width = s.Colour, 0
		b.Offset = width * vg.Length(float64(i)-float64(len(series)-1)/2)
		p.Add(b)
		if legend {
			p.Legend.Add(s.Name, b)
		}
	}
	p.NominalX(groups...)
	p.X.Min, p.X.Max = -.6, float64(len(groups))-.4
	if legend {
		p.X.Max += .8 // its place
		p.Legend.Left = false
	}
	return p, nil
}

func panel(title, y string) *Panel {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text, p.Y.Min, p.Y.Max = title, y, 0, 1e-9
	p.Legend.Top, p.Legend.Left = true, true
	return p
}

// Save writes the panels as PNG, one below the other.
func Save(file string, panels ...*Panel) error {
	rows := make([][]*Panel, len(panels))
	for i, p := range panels {
		rows[i] = []*Panel{p}
	}
	return SaveGrid(file, rows)
}

// SaveGrid writes rows of panels, all of one length, as PNG.
func SaveGrid(file string, rows [][]*Panel) error {
	const width = 30 * vg.Centimeter
	height := 10 * vg.Centimeter
	if len(rows[0]) > 1 {
		height = 8 * vg.Centimeter
	}
	canvas := vgimg.NewWith(vgimg.UseWH(width, height*vg.Length(len(rows))), vgimg.UseDPI(90))
	layout := draw.Tiles{Rows: len(rows), Cols: len(rows[0]), PadX: vg.Centimeter, PadY: vg.Centimeter / 2, PadTop: 5, PadBottom: 5, PadLeft: 5, PadRight: 15}
	dc := draw.New(canvas)
	for y, row := range rows {
		for x, p := range row {
			p.Draw(layout.At(dc, x, y))
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(f)
	return errors.Join(err, f.Close())
}
