package main

// serve is the MCP server.
type serve struct {
	transport
	flags
}

func (s serve) check() (config, error) {
	if err := s.transport.check(); err != nil {
		return config{}, err
	}
	return s.flags.check()
}
