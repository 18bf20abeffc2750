# want: exit 0
# want: stdout "ok\n"
import http.server
import threading
import urllib.request


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"x" * (4 << 20))

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("localhost", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
assert len(urllib.request.urlopen(f"http://localhost:{server.server_port}/").read()) == 4 << 20
print("ok")
