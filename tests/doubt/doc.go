// Package doubt holds the tests of lost answers and of nodes that are not what
// they were. A forwarder (package forward) between Causeway and the source cuts
// the backend connection at every step of a commit; whatever became of the
// write, the session's reads afterwards must agree with it. Replicas that come
// back with older data, and strangers behind a known address, must serve
// nothing before they cover the source.
//
// CAUSEWAY_DOUBT_CUTS (default 1000) is the number of cuts,
// CAUSEWAY_CONSISTENCY_SEED the seed of the random choices.
package doubt
