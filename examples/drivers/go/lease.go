// Package lease is a server of leases with a fenced store.
package lease

import "errors"

var Denied = errors.New("denied")

type Server struct {
	Owner           *int
	Tokens, Highest int
}

func (s *Server) Acquire(client int) (int, error) {
	if s.Owner != nil {
		return 0, Denied
	}
	s.Owner = &client
	s.Tokens++
	return s.Tokens, nil
}

func (s *Server) Expire() { s.Owner = nil }

func (s *Server) Write(token int) error {
	if token < 1 || token < s.Highest {
		return Denied
	}
	s.Highest = token
	return nil
}
