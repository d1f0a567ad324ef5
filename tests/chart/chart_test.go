package chart

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// TestSave: each panel is as high as the others, and what was never seen makes
// no line and no error.
func TestSave(t *testing.T) {
	lines, err := Lines("lag", "seconds", "seconds", []Curve{
		{Name: "one", Colour: Colours[0], Points: []Point{{0, 0}, {1, 2}}}, {Name: "two", Dashed: true, Colour: Colours[1]}})
	if err != nil {
		t.Fatal(err)
	}
	bars, err := Bars("reads", "share", []string{"a", "b"}, []Series{{"x", Colours[0], []float64{1, 0}}, {"y", Colours[1], []float64{0, 0}}}, true)
	if err != nil {
		t.Fatal(err)
	}
	one, two := height(t, lines), height(t, lines, bars)
	if one == 0 || two < 2*one || two > 2*one+1 { // half a point is rounded
		t.Errorf("one panel is %d high, two are %d", one, two)
	}
	if lines.Y.Max < 2 || bars.Y.Max < 1 {
		t.Errorf("axes end at %v and %v", lines.Y.Max, bars.Y.Max)
	}
}

// TestSaveGrid: panels beside each other share the width of one.
func TestSaveGrid(t *testing.T) {
	p, err := Lines("reads", "seconds", "", []Curve{{Name: "one", Colour: Blue, Points: []Point{{0, 0}, {4, 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := Borders(p, 1, 3); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.png")
	if err := SaveGrid(file, [][]*Panel{{p, p}, {p, p}}); err != nil {
		t.Fatal(err)
	}
	one, four := size(t, save(t, p)), size(t, file)
	if four.X != one.X || four.Y <= one.Y {
		t.Errorf("one panel is %v, four are %v", one, four)
	}
}

func height(t *testing.T, panels ...*Panel) int {
	t.Helper()
	return size(t, save(t, panels...)).Y
}

func save(t *testing.T, panels ...*Panel) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "x.png")
	if err := Save(file, panels...); err != nil {
		t.Fatal(err)
	}
	return file
}

func size(t *testing.T, file string) image.Point {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return picture.Bounds().Size()
}
