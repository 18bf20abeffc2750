// Package forkserver starts and commands the warm interpreters that fork
// workers. Their side is python/, which this package embeds.
//
// # Protocol
//
// Each process has one control socket to the server, an AF_UNIX SOCK_SEQPACKET
// pair: one JSON object a message, descriptors as SCM_RIGHTS. Requests carry
// "op", answers "event".
//
//	confine {steps}                 to the first fork server: run the steps;
//	                                answers ready {pid}
//	preload {modules, font_cache}   import and exercise modules;
//	                                answers preloaded {data, missing}
//	fork    {role, steps, before, after, names, …}
//	                                before and after are made by the parent around its
//	                                fork(2), steps by the child.
//	                                Descriptors: the child's control socket, then
//	                                one for each name, and for a worker the reading
//	                                ends of its stdout and stderr, which the reaper
//	                                watches but never reads. The child answers ready
//	                                {pid} on its own socket, where the parent too
//	                                says that fork(2) or a step before it failed
//	kill    {pid}                   to a reaper: answers killed, with every process
//	                                of the run sent SIGKILL, then gone, when all are
//	                                reaped. A pid that has ended is ignored
//	rehearse                        to a reaper: touches the memory that a kill needs;
//	                                answers rehearsed
//	sweep   {directories}           to a reaper whose run is gone: answers swept
//
// Unasked come exit {pid, status, cpu_ms} when a child ended, from a reaper only
// after the run was killed, and killed when the run said that it is at its end and
// has closed both streams; each is followed by gone. failed {step, path, errno,
// error} takes the place of any answer. A ready worker takes one message: the
// hand-over {steps}, with the descriptors of code, stdin, stdout and stderr. It
// answers only when it fails before the program starts. Its socket is closed before
// the program's first instruction.
//
// End of file on a control socket ends the process, and a reaper's run with it.
package forkserver
