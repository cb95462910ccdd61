"""A Cleanslate worker in plain Python: no package but the standard library, so that every byte on the wire is in sight.

The protocol is in docs/workers-in-other-languages.md; each step of it is a method here. To make it yours, change what stands below `EXECUTORS`.
Start it with NATS_URL, NATS_USER and NATS_PASSWORD as `slate role add counter --env` prints them.
"""

import base64, collections, hashlib, json, os, secrets, signal, sys, threading, time
from datetime import datetime, timezone

from tiny_nats import Nats, log


class Failure(Exception):
    """Raise it to say how a step failed: `terminal` is not tried again."""

    def __init__(self, code, message, disposition="retryable"):
        super().__init__(message)
        self.code, self.disposition = code, disposition


class Claim:
    """The right to one attempt: what proves it (`fence`), and whether it is still ours."""

    def __init__(self, fence, command):
        self.fence, self.command = fence, command
        self.key = (fence["taskId"], fence["stepId"], fence["attempt"], fence["claimId"])
        self.cancelled = threading.Event()  # set where the claim is lost or its task cancelled: an executor should look at it
        self.granted = False  # until then it is none: a heartbeat that named it would hear that it is lost
        self.over = False  # reported, or none of our business any more


class Worker:
    def __init__(self, role, executors, workflows=(), slots=4, grace=20.0):
        self.role, self.executors, self.workflows, self.slots, self.grace = role, executors, list(workflows), slots, grace
        self.id = f"{role}-{secrets.token_hex(6)}"  # new with every start: claims of a crashed process are never taken for ours
        self.nats = Nats(os.environ["NATS_URL"], os.environ.get("NATS_USER", f"worker-{role}"), os.environ["NATS_PASSWORD"])
        self.running, self.reported = {}, collections.OrderedDict()
        self.lock, self.stopping, self.lease = threading.Lock(), threading.Event(), 10.0

    def run(self):
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: self.stopping.set())
        self.nats.subscribe(f"abort.{self.role}.{self.id}", lambda subject, reply, headers, body: self.drop([json.loads(body)["data"]]))
        self.register()
        threading.Thread(target=self.beat_for_ever, daemon=True).start()
        while not self.stopping.is_set():
            if len(self.running) >= self.slots:
                self.stopping.wait(0.02)
                continue
            self.pull()
        self.drain()

    def register(self):
        while self.workflows and not self.stopping.is_set():
            data = {"worker": self.id, "role": self.role, "workflows": self.workflows}
            if answer := self.ask(f"reg.{self.role}", "workflow.register.v1", data):
                return log(f"workflows registered: {[each['workflow'] for each in answer['registered']]}")
            self.stopping.wait(1)

    # A doorbell: pulled with as many requests as there are free slots (here one at a time), never more.
    def pull(self):
        body = json.dumps({"batch": 1, "expires": 2_000_000_000}).encode()
        answer = self.nats.pull(f"$JS.API.CONSUMER.MSG.NEXT.COMMANDS.work-{self.role}", body, timeout=4)
        if answer is None or "Status" in answer[1]:
            if answer is None or answer[1]["Status"] not in ("404", "408"):
                self.stopping.wait(0.5)
            return
        ack, headers, body = answer
        fence = {"epoch": int(headers["Cs-Epoch"]), "tenantId": headers["Cs-Tenant"], "taskId": headers["Cs-Task"]}
        fence |= {"stepId": headers["Cs-Step"], "attempt": int(headers["Cs-Attempt"])}
        name = "/".join(str(fence[key]) for key in ("epoch", "tenantId", "taskId", "stepId", "attempt"))
        fence["claimId"] = f"{self.id}:{hashlib.sha256(name.encode()).hexdigest()[:24]}"
        claim = Claim(fence, body)
        with self.lock:
            is_known = claim.key in self.running  # our ack was lost: it is in hand already
            self.running.setdefault(claim.key, claim)
        if is_known:
            return self.nats.publish(ack, b"+ACK")
        threading.Thread(target=self.work, args=(claim, ack), daemon=True).start()

    # The claim is the right to work; the doorbell is acked once it is known whose it is.
    def work(self, claim, ack):
        try:
            answer = self.claim(claim)
            self.nats.publish(ack, b'-NAK {"delay": 3000000000}' if answer == "busy" else b"+ACK")
            if answer == "granted":
                claim.granted = True
                self.report(claim, self.execute(claim))
        except OSError as error:  # the broker went away in between: the doorbell rings again, or the lease ends
            log(f"{claim.fence['taskId']}: {error}")
        finally:
            with self.lock:
                self.running.pop(claim.key, None)

    def claim(self, claim):
        for pause in (0.1, 0.3, 1.0, 0):
            data = {"worker": self.id, "role": self.role, "claims": [claim.fence]}
            if answer := self.ask(f"claim.{self.role}", "claim.request.v1", data):
                found = answer["answers"][0]
                if found["answer"] != "busy":
                    return found["answer"]
            time.sleep(pause)
        return "busy"

    def execute(self, claim):
        started = time.monotonic()
        usage = lambda: {"durationMs": round((time.monotonic() - started) * 1000, 3)}
        try:
            envelope = json.loads(claim.command)
            if envelope["type"] != "step.run.v1":
                return {"outcome": "released", "reason": "UNSUPPORTED_VERSION", "dueInMs": 10_000}
            data = envelope["data"]
            if data["executor"] not in self.executors:
                return {"outcome": "released", "reason": "UNKNOWN_EXECUTOR", "dueInMs": 10_000}
            output = self.executors[data["executor"]](self.resolve(claim, data["input"]), claim)
            return {"outcome": "succeeded", "output": self.travelling(claim, output), "usage": usage(), "candidates": []}
        except Exception as error:
            code, disposition = getattr(error, "code", "EXECUTOR_FAILED"), getattr(error, "disposition", "retryable")
            body = {"code": code, "disposition": disposition, "message": f"{type(error).__name__}: {error}"[:4000]}
            return {"outcome": "failed", "error": body, "usage": usage()}

    # Values over 256 KiB travel as {"$object": sha256, "bytes": n}, and are kept by the ledger.
    def resolve(self, claim, value):
        if isinstance(value, dict) and "$object" in value:
            return json.loads(base64.b64decode(self.object(claim, "get", {"sha256": value["$object"]})["base64"]))
        if isinstance(value, dict):
            return {key: self.resolve(claim, item) for key, item in value.items()}
        return [self.resolve(claim, item) for item in value] if isinstance(value, list) else value

    def travelling(self, claim, output):
        text = json.dumps(output).encode()
        if len(text) <= 256 * 1024:
            return output
        stored = self.object(claim, "put", {"base64": base64.b64encode(text).decode()})
        return {"$object": stored["sha256"], "bytes": stored["bytes"]}

    def object(self, claim, verb, data):
        tenant = claim.fence["tenantId"]
        answer = self.ask(f"obj.{tenant}.object.{verb}", f"object.{verb}.v1", data, tenantid=tenant)
        if not answer or not answer["ok"]:
            raise Failure("INTERNAL", f"object.{verb}: {answer}")
        return answer["value"]

    # Said until it is stored; under the same message id it is stored once.
    def report(self, claim, data):
        while not claim.over:
            fence = claim.fence
            id = f"report:{fence['epoch']}:{fence['tenantId']}:{fence['taskId']}:{fence['stepId']}:{fence['attempt']}:{fence['claimId']}"
            about = {"id": id, "tenantid": fence["tenantId"], "taskid": fence["taskId"], "stepid": fence["stepId"]}
            about |= {"attempt": fence["attempt"], "claimid": fence["claimId"], "epoch": fence["epoch"]}
            body = self.envelope("step.report.v1", data, **about)
            subject = f"rpt.{self.role}.{fence['tenantId']}.{fence['taskId']}"
            answer = self.nats.request(subject, body, timeout=5, headers={"Nats-Msg-Id": id})
            if answer and "seq" in json.loads(answer[2] or "{}"):
                claim.over = True
                with self.lock:
                    self.reported[claim.key] = (claim, data, time.monotonic())
                return
            time.sleep(1)

    # One heartbeat for all claims, at a third of the lease at the latest; it also tells how many slots are free.
    def beat_for_ever(self):
        while True:
            try:
                self.beat()
            except Exception as error:
                log(f"heartbeat: {error}")
            time.sleep(min(1.0, self.lease / 3))

    def beat(self):
        with self.lock:
            running = [claim.fence for claim in self.running.values() if claim.granted and not claim.over]
            reported = [claim.fence for claim, _, _ in self.reported.values()][:1000]
            free = 0 if self.stopping.is_set() else max(0, self.slots - len(self.running))
        data = {"worker": self.id, "role": self.role, "slots": self.slots, "free": free, "running": running, "reported": reported}
        if answer := self.ask(f"hb.{self.role}", "worker.heartbeat.v1", data, timeout=max(0.2, min(3, self.lease / 2))):
            self.lease = answer["leaseMs"] / 1000
            self.drop(answer["lost"] + answer["cancelled"])
            with self.lock:
                for ref in answer["settled"] + answer["lost"]:
                    self.reported.pop((ref["taskId"], ref["stepId"], ref["attempt"], ref["claimId"]), None)
                late = [each for each in self.reported.values() if time.monotonic() - each[2] > 10]
            for claim, data, _ in late:  # stored, but neither applied nor found stale: say it again
                claim.over = False
                threading.Thread(target=self.report, args=(claim, data), daemon=True).start()

    def drop(self, refs):
        for ref in refs:
            claim = self.running.get((ref["taskId"], ref["stepId"], ref["attempt"], ref["claimId"]))
            if claim and not claim.over:
                claim.over = True  # a claim that is gone is not reported
                claim.cancelled.set()
                log(f"no longer ours: {ref['taskId']}/{ref['stepId']}")

    # SIGTERM: take nothing more, finish what fits into the grace period, hand the rest back.
    def drain(self):
        log("draining")
        ends = time.monotonic() + self.grace
        while self.running and time.monotonic() < ends:
            time.sleep(0.05)
        for claim in [each for each in list(self.running.values()) if each.granted]:
            claim.cancelled.set()
            self.report(claim, {"outcome": "released", "reason": "drain"})
        log("drained")
        sys.exit(0)

    def ask(self, subject, type, data, tenantid="system", timeout=3):
        answer = self.nats.request(subject, self.envelope(type, data, tenantid=tenantid), timeout=timeout)
        if answer is None or "Status" in answer[1] or "Nats-Service-Error-Code" in answer[1]:
            if answer and answer[2]:
                log(f"{subject}: {answer[2].decode()}")
            return None
        return json.loads(answer[2])["data"]

    def envelope(self, type, data, **attributes):
        time = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"specversion": "1.0", "id": secrets.token_hex(12), "source": f"/services/{self.role}/{self.id}", "type": type}
        return json.dumps({**head, "time": time, "datacontenttype": "application/json", **attributes, "data": data}).encode()


def count(input, claim):
    words = collections.Counter(input["text"].lower().split())
    return {"words": [{"word": word, "times": times} for word, times in words.most_common(10)]}


EXECUTORS = {"word-count/count": count}
INPUT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False}


def workflow(role):
    step = {"key": "count", "role": role, "executor": "word-count/count", "after": [], "input": {"text": {"from": "input.text"}}}
    step |= {"timeoutMs": 60_000, "queueTtlMs": 3_600_000, "retry": {"maxAttempts": 3, "baseMs": 1_000, "maxMs": 60_000}}
    plan = {"workflow": "word-count", "inputSchema": INPUT, "documents": [], "steps": [step], "validation": None}
    return {**plan, "result": {"from": "steps.count.output"}}


if __name__ == "__main__":
    role = os.environ.get("ROLE", "counter")
    Worker(role, EXECUTORS, [workflow(role)], slots=int(os.environ.get("SLOTS", "4")), grace=float(os.environ.get("GRACE_S", "20"))).run()
