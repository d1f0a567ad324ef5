// Package chart draws what the benchmarks measured: lines over an axis, bars
// beside each other, several of them in one PNG.
//
// It knows nothing of what is measured. The programs under tests/ use it; the
// product draws nothing.
package chart
