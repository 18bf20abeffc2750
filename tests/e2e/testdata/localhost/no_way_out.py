# Outside there is nothing, and that is said at once.
# want: exit 0
# want: stdout "ENETUNREACH ENETUNREACH gaierror ['lo']\n"
import errno
import socket

answers = []
for family, address in ((socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET6, ("2001:db8::1", 80))):
    with socket.socket(family) as sock:
        answers.append(errno.errorcode[sock.connect_ex(address)])
try:
    socket.getaddrinfo("example.org", 80)
except OSError as error:
    answers.append(type(error).__name__)
print(*answers, [line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line])
