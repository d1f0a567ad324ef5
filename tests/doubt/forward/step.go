package forward

// Step is the moment of a command at which its connection is cut.
type Step int

// The steps in the order of a command's life.
const (
	BeforeRequest    Step = iota // the server never hears of it
	HalfRequest                  // the server gets half a packet
	AfterRequest                 // the server has it, nobody waits for the answer
	LateAfterRequest             // the same a few milliseconds later
	AnswerDropped                // the server has answered; not a byte of it arrives
	HalfAnswer                   // half of the answer's first packet arrives
	AfterAnswer                  // the whole first packet arrives, then nothing more
	HalfOpen                     // only Causeway's side is closed; the server notices nothing
	Silence                      // nothing passes either way for a while, then both are closed
	Steps            = int(iota)
)

var stepNames = [Steps]string{
	"before the request", "in the middle of the request", "after the request", "a little after the request",
	"before the answer", "in the middle of the answer", "after the answer", "on one side", "after silence",
}

// String names the moment.
func (s Step) String() string { return stepNames[s] }
