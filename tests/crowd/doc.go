// Package crowd holds the test that many clients share few connections: most of
// them idle, some of them at work, none of them with an error or with anything
// of another one's session. CROWD_CLIENTS, CROWD_ACTIVE and CROWD_DURATION size
// it; 10000, 500 and 60s are what make crowd runs.
//
// Only tests live here.
package crowd
