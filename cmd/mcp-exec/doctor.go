package main

// doctor says what this host gives, and proves what is promised.
type doctor struct {
	flags
	JSON bool `name:"json" env:"-" help:"Print one JSON object."`
}
