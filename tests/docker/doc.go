// Package docker checks the files in docker/ as far as that goes without a
// Docker engine: that they are well formed, that what they name exists, that
// Causeway accepts its configuration, and that a real MySQL with exactly these
// options and this SQL becomes a source with a replica. Only tests live here.
package docker
