"""As much of the NATS client protocol as a worker needs (https://docs.nats.io/reference/reference-protocols/nats-protocol)."""

import json, queue, secrets, socket, sys, threading, time
from urllib.parse import urlparse


class Nats:
    """Publish, subscribe, request, and a connection that comes back."""

    def __init__(self, url, user, password):
        self.url, self.user, self.password = urlparse(url), user, password
        self.inbox = f"_INBOX_{user}.{secrets.token_hex(8)}"  # a credential may listen to its own inbox only
        self.handlers, self.waiting = {}, {}
        self.lock, self.ready = threading.Lock(), threading.Event()
        self.subscribe(self.inbox + ".*", lambda subject, reply, headers, body: self._answered(subject, reply, headers, body))
        self.pull_inbox, self.pulled = f"_INBOX_{user}.{secrets.token_hex(8)}", queue.Queue()
        self.subscribe(self.pull_inbox, lambda subject, reply, headers, body: self.pulled.put((reply, headers, body)))
        threading.Thread(target=self._stay_connected, daemon=True).start()

    def subscribe(self, subject, handler):
        sid = str(len(self.handlers) + 1)
        self.handlers[sid] = (subject, handler)
        if self.ready.is_set():
            self._send(f"SUB {subject} {sid}\r\n".encode())

    def publish(self, subject, body, reply="", headers=None):
        if headers:
            head = ("NATS/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n").encode()
            line = f"HPUB {subject} {reply} {len(head)} {len(head) + len(body)}\r\n"
            self._send(line.encode() + head + body + b"\r\n")
        else:
            self._send(f"PUB {subject} {reply} {len(body)}\r\n".encode() + body + b"\r\n")

    def request(self, subject, body, timeout, headers=None):
        """(reply subject, headers, body) of the answer; None where none came in time."""
        reply, answer = f"{self.inbox}.{secrets.token_hex(8)}", queue.Queue()
        self.waiting[reply] = answer
        try:
            self.publish(subject, body, reply, headers)
            return answer.get(timeout=timeout)
        except (OSError, queue.Empty):
            return None
        finally:
            del self.waiting[reply]

    def pull(self, subject, body, timeout):
        """(reply subject, headers, body) of the next message; None where none came. What a stream delivers keeps its own subject, so it is told by its subscription."""
        try:
            self.publish(subject, body, self.pull_inbox)
            return self.pulled.get(timeout=timeout)
        except (OSError, queue.Empty):
            return None

    def _answered(self, subject, reply, headers, body):
        if subject in self.waiting:
            self.waiting[subject].put((reply, headers, body))

    def _send(self, data):
        if not self.ready.wait(5):
            raise OSError("not connected")
        with self.lock:
            self.socket.sendall(data)

    def _stay_connected(self):
        while True:
            try:
                self.socket = socket.create_connection((self.url.hostname, self.url.port or 4222), timeout=10)
                self.socket.settimeout(60)  # the server says PING every two minutes or less; we do more often
                self._read(self.socket.makefile("rb"))
            except OSError as error:
                log(f"broker: {error}")
            self.ready.clear()
            time.sleep(1)

    def _read(self, lines):
        options = {"user": self.user, "pass": self.password, "verbose": False, "headers": True, "no_responders": True}
        self.socket.sendall(f"CONNECT {json.dumps({**options, 'lang': 'python', 'version': '1', 'protocol': 1})}\r\nPING\r\n".encode())
        while line := lines.readline():
            verb, *words = line.decode().split()
            if verb == "PING":
                self.socket.sendall(b"PONG\r\n")
            elif verb == "PONG" and not self.ready.is_set():
                subscriptions = "".join(f"SUB {subject} {sid}\r\n" for sid, (subject, _) in self.handlers.items())
                self.socket.sendall(subscriptions.encode())
                self.ready.set()
            elif verb in ("MSG", "HMSG"):
                size = int(words[-1])
                payload = lines.read(size + 2)[:size]
                head = int(words[-2]) if verb == "HMSG" else 0
                reply = words[2] if len(words) == (5 if verb == "HMSG" else 4) else ""
                self.handlers[words[1]][1](words[0], reply, parse_headers(payload[:head]), payload[head:])
            elif verb == "-ERR":
                log(f"broker: {line.decode().strip()}")
        raise OSError("connection closed")


def parse_headers(block):
    first, *lines = block.decode().split("\r\n")
    status = {"Status": first[9:12]} if len(first) > 8 else {}
    return {**dict(line.split(": ", 1) for line in lines if ": " in line), **status}


def log(text):
    print(text, file=sys.stderr, flush=True)
