//go:build !linux

package sandboxtest

import "errors"

func missingNamespaces() error { return errors.New("not Linux") }
