// Command relay is the yardstick of make bench: the plainest TCP relay that Go
// allows. Two goroutines a connection, each with a net.Conn to read, one to
// write and a buffer of 16 KB; it parses nothing and knows no MySQL.
//
// It does not use io.Copy, which would hand the sockets to splice(2) and so
// measure something that no proxy that looks at packets can do.
package main

import (
	"fmt"
	"net"
	"os"
)

const bufferSize = 16 << 10

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: relay LISTEN TARGET")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
}

func serve(listen, target string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	for {
		client, err := l.Accept()
		if err != nil {
			return err
		}
		go relay(client, target)
	}
}

// relay joins one client with a new connection to the target until either
// side ends.
func relay(client net.Conn, target string) {
	server, err := net.Dial("tcp", target)
	if err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		client.Close()
		return
	}
	go pump(server, client)
	pump(client, server)
}

// pump copies one direction; at its end it closes both, which ends the other.
func pump(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, bufferSize)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
