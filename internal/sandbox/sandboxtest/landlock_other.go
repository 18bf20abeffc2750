//go:build !linux

package sandboxtest

func landlockABI() int { return 0 }
