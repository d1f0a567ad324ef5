// Package monotonic holds the test that reads never go back in time: a counter is
// raised on the source, one replica has it at once and the other 2 s later, and
// clients read it through Causeway, now and then from the source in between. With
// [[class]] monotonic = true no client may see a smaller number than before; without it
// some must, or the test proves nothing.
package monotonic
