// Command drill puts a real cluster through a surge of lag, with Causeway in
// front and reads of all classes on it, and judges what the classes promise:
//
//	calm      the replicas keep up
//	surge     both replicas are 3 s behind (SOURCE_DELAY)
//	recovery  they keep up again, and are let back in
//	after     calm once more
//
// The clients are few and paced. Some write a row of their own and read it back
// at once, the others read a clock's row, which the source advances every 20 ms;
// each statement names its class in a comment. How old an answer was is told by
// the drill's own clock: how long before the read began its value had been
// replaced. Where reads went is asked of Causeway after each, and, independent of
// it, counted by the source.
//
// It prints a table, draws drill.png, and ends with 1 and a sentence for each
// promise that was not kept. Ten minutes are scaled to --time, and with them the
// windows of exclusion and return; the lag stays at 3 s, as the bounds are
// absolute.
//
//	go run ./tests/drill --time 2m --plot drill.png
package main
