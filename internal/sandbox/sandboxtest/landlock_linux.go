package sandboxtest

import ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

func landlockABI() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return abi
}
