"""The Python example with executors that do what their input says, for the tests."""

import os, sys, time

sys.path.insert(0, os.environ["EXAMPLE"])
from worker import Failure, Worker, log, workflow  # noqa: E402


class SlowClaims(Worker):
    """Some heartbeats go out between a doorbell and the answer to its claim, as on a busy machine."""

    def claim(self, claim):
        time.sleep(float(os.environ.get("CLAIM_AFTER_S", "0")))
        return super().claim(claim)


def perform(input, claim):
    log(f"start {input['text']}")
    word, _, amount = input["text"].partition(" ")
    if word == "fail":
        raise Failure("OUT_OF_WORDS", "there is nothing to count", amount or "retryable")
    ends = time.monotonic() + float(amount or 0)
    while time.monotonic() < ends and not claim.cancelled.is_set():
        time.sleep(0.02)
    if word == "large":
        return {"words": ["x" * 300_000]}
    log(f"end {input['text']}")
    return {"words": [word]}


role = os.environ["ROLE"]
plan = workflow(role)
plan["steps"][0]["retry"] = {"maxAttempts": 2, "baseMs": 100, "maxMs": 100}
if __name__ == "__main__":
    SlowClaims(role, {"word-count/count": perform}, [plan], slots=2, grace=float(os.environ.get("GRACE_S", "1"))).run()
