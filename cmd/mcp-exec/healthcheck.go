package main

// healthcheck tells a container engine by its exit status whether the server is
// well. It sees the server's settings, since they share the container's environment.
type healthcheck struct{ transport }

func (h healthcheck) check() error {
	if err := h.transport.check(); err != nil {
		return usageError{err}
	}
	// stdio: a server whose client is there runs, any other has ended and the
	// container with it. There is nobody else to ask.
	return nil
}
