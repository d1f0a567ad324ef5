package classifier

import (
	"slices"
	"testing"
)

// TestKeptValues: what performance_schema.user_variables_by_thread of MySQL 9.7 shows.
func TestKeptValues(t *testing.T) {
	for literal, want := range map[string]string{
		"5":                                      "5",
		"-7":                                     "-7",
		"+5":                                     "5",
		"007":                                    "7",
		"-0":                                     "0",
		"2.50":                                   "2.50",
		".5":                                     "0.5",
		"5.":                                     "5",
		"007.50":                                 "7.50",
		"-0.00":                                  "0.00",
		"-.5":                                    "-0.5",
		"1e3":                                    "1000",
		"-1e3":                                   "-1000",
		"1e0":                                    "1",
		"0e0":                                    "0",
		"-0e0":                                   "-0",
		"1E20":                                   "1e20",
		"1e15":                                   "1e15",
		"1e14":                                   "100000000000000",
		"1e16":                                   "1e16",
		"1e17":                                   "1e17",
		"1.5e-7":                                 "0.00000015",
		"1e-4":                                   "0.0001",
		"1e-5":                                   "0.00001",
		"1e-15":                                  "0.000000000000001",
		"1e-16":                                  "1e-16",
		"1e-20":                                  "1e-20",
		"-2.5e-30":                               "-2.5e-30",
		"123456789e10":                           "1.23456789e18",
		"1.7976931348623157e308":                 "1.7976931348623157e308",
		"2e100":                                  "2e100",
		"1.23456789012345678e5":                  "123456.78901234567",
		"1e+3":                                   "1000",
		"0x4142":                                 "AB",
		"0x142":                                  "B",
		"0b01000001":                             "A",
		"0b1":                                    "",
		"18446744073709551616":                   "18446744073709551616",
		"99999999999999999999999999999999999999": "99999999999999999999999999999999999999",
		"TRUE":                                   "1",
		"CAST(007 AS UNSIGNED)":                  "7",
		"_utf8mb4 X'C3a9' COLLATE utf8mb4_bin":   "é",
		"_binary X''":                            "",
		"'te''xt'":                               "te'xt",
	} {
		if got := KeptValues(literal, Mode{}); !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q among them", literal, got, want)
		}
	}
	if got := KeptValues("-5", Mode{}); slices.Contains(got, "5") {
		t.Errorf("-5 may be 5: %q", got)
	}
}
