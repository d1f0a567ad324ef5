package seq

import "slices"

// Shrink looks for a shorter script that still fails, within so many tries. It
// leaves out whole sessions, then ever smaller runs of steps; a polite script
// stays polite, and one without what is owed does not come to that. The result is the script itself if nothing could go.
func Shrink(s Script, tries int, fails func(Script) bool) Script {
	owed := s.meetsOwed()
	attempt := func(steps []Step) bool {
		candidate := s
		candidate.Steps = steps
		if tries <= 0 || len(steps) == len(s.Steps) || len(steps) == 0 || !candidate.Valid() || !owed && candidate.meetsOwed() {
			return false
		}
		tries--
		if !fails(candidate) {
			return false
		}
		s = candidate
		return true
	}
	for i := range Sessions {
		attempt(without(s.Steps, func(_ int, step Step) bool { return step.On == i }))
	}
	for size := (len(s.Steps) + 1) / 2; size > 0 && tries > 0; {
		shorter := false
		for from := len(s.Steps) - size; from > -size && tries > 0; from -= size {
			shorter = attempt(without(s.Steps, func(i int, _ Step) bool { return i >= from && i < from+size })) || shorter
		}
		switch {
		case size > 1:
			size /= 2
		case !shorter:
			size = 0
		}
	}
	return s
}

func without(steps []Step, out func(int, Step) bool) []Step {
	var rest []Step
	for i, s := range steps {
		if !out(i, s) {
			rest = append(rest, s)
		}
	}
	return slices.Clip(rest)
}
