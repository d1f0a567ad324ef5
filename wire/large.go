package wire

import (
	"math/bits"
	"sync"
)

// Buffers larger than a pooled one are pooled by their size, each twice the one
// before: a stream of large packets would else make the collector run all the time,
// which every client feels. What nobody takes for two collections is let go.
const largeSizes = 11 // 32 KB to 32 MB

var large [largeSizes]sync.Pool

// sizeClass is where a buffer of n bytes belongs; ok is false for one not to keep.
func sizeClass(n int) (class int, ok bool) {
	class = bits.Len(uint(n/bufferSize)) - 2
	return class, class >= 0 && class < largeSizes && n == bufferSize<<(class+1)
}

// takeLarge returns a buffer of n bytes, twice bufferSize or a doubling of that.
// What stands in it is of no meaning.
func takeLarge(n int) []byte {
	if class, ok := sizeClass(n); ok {
		if b, ok := large[class].Get().(*[]byte); ok {
			return *b
		}
	}
	return make([]byte, n)
}

// giveLarge takes back what takeLarge returned, or any other buffer.
func giveLarge(b []byte) {
	if class, ok := sizeClass(len(b)); ok {
		large[class].Put(&b)
	}
}
