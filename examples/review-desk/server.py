"""
A small loan-review application that uses JISS, with sealed probes among its live cases; the standard library alone.
server.ts beside it does the same in TypeScript. README.md says how to run it and what to copy.

It keeps everything in memory. In your application the open cases, the ledger and the outbox are tables of your
database, and a decision and its job are one transaction.
"""

import base64
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import random
import re
import secrets
import ssl
import sys
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = pathlib.Path(__file__).parent
DOMAIN = "financial"
SEALING = "/v1/probes"
DECISIONS = ("accepted", "modified", "rejected", "escalated")
PERCENTS = (90, 95, 100, 105, 110, 115)
LARGEST_AMOUNT = 1_000_000
BODY_BYTES = 10_000
# Every case that the browser gets has this size, so that a size tells nothing.
CASE_BYTES = 2048
# No case comes sooner: a draw that gives a probe is written to disk, and takes some milliseconds longer than others.
CASE_AFTER_SECONDS = 0.1
# A draw has so many attempts of so many seconds: nobody waits longer than that for a case.
DRAW_ATTEMPTS = 2
DRAW_TIMEOUT_SECONDS = 1.5
SEND_TIMEOUT_SECONDS = 5
FIRST_WAIT_SECONDS = 0.25
LONGEST_WAIT_SECONDS = 30
WEBHOOK_TOLERANCE_SECONDS = 300
WEBHOOK_BYTES = 1_048_576
EVENTS_KEPT = 50


class Item:
    """
    One case on somebody's desk. The browser gets the name and the content, and nothing else of it.

    `percent`: all amounts are this share of the library's, so that cases differ and ratios stay.
    `session`: the JISS session of this review, for good: it makes repeated calls safe.
    `probe`: what JISS said at the draw; None for a live case.
    `decided`: the decision and the amount, once there is one.
    """

    def __init__(self, reviewer, content, probe):
        # Names of both kinds have one form, and say nothing of the order in which they were made.
        self.name = secrets.token_hex(5)
        self.reviewer = reviewer
        self.content = content
        self.percent = random.choice(PERCENTS)
        self.session = f"desk-{uuid.uuid4()}" if probe is None else probe["session_id"]
        self.probe = probe
        self.decided = None


def execute(ledger, item, decision, amount):
    """
    The only way to the ledger. Whatever follows from a decision (a payment, a letter, a statistic of somebody's work)
    follows from a line of the ledger, so a probe has no effect as long as this function refuses it. It looks at what
    JISS said at the draw, not at what a caller says: a caller that mixes up a probe and a case must fail here, loudly.
    """
    if item.probe is not None:
        raise RuntimeError("a probe was about to be executed: do_not_execute")
    ledger.append(
        {
            "case": item.name,
            "session_id": item.session,
            "reviewer": item.reviewer,
            "decision": decision,
            "amount": amount,
            "labelled": False,
        }
    )


# ---- JISS -----------------------------------------------------------------------------------------------------


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # the key goes nowhere else


opener = urllib.request.build_opener(NoRedirect)


class Jiss:
    def __init__(self, url, key):
        self.url = url
        self.key = key

    def call(self, method, path, body, timeout):
        """Status, headers and text of an answer, whatever the status. Raises OSError or HTTPException without one."""
        headers = {"Content-Type": "application/json", "X-API-Key": self.key}
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        try:
            response = opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            return response.status, response.headers, response.read().decode()


def is_passing(status):
    """Whether a repeated call may succeed."""
    return status == 429 or status >= 500


class Outbox:
    """Calls that wait for JISS, in their order. The reviewer does not wait for them."""

    def __init__(self, jiss):
        self.jiss = jiss
        self.waiting = deque()
        # What JISS refused for good. It is for a person to look at.
        self.set_aside = []
        self.added = threading.Semaphore(0)
        threading.Thread(target=self.send, daemon=True).start()

    def add(self, method, path, body, is_probe=False):
        # Written once, and sent as it is each time: a changed body under the same session is a 409.
        text = None if body is None else json.dumps(body).encode()
        self.waiting.append((method, path, text, is_probe))
        self.added.release()

    def send(self):
        while True:
            self.added.acquire()
            method, path, body, is_probe = self.waiting[0]
            status = self.attempt_until_settled(method, path, body)
            self.waiting.popleft()
            # The probe was recalled, or its time was over: JISS has recorded that, and the decision is discarded.
            # Or it is a probe that an earlier start has sealed.
            if status < 300 or (is_probe or path == SEALING) and status == 409:
                continue
            self.set_aside.append({"path": path, "status": status})
            # Neither key nor body: a probe's body holds its ticket.
            print(f"JISS refused {path} with {status}: set aside", file=sys.stderr, flush=True)

    def attempt_until_settled(self, method, path, body):
        wait = FIRST_WAIT_SECONDS
        while True:
            retry_after = 0
            try:
                # A real application keeps the answer as it came: it is evidence.
                status, headers, _ = self.jiss.call(method, path, body, SEND_TIMEOUT_SECONDS)
                if not is_passing(status):
                    return status
                seconds = headers.get("Retry-After", "")
                retry_after = int(seconds) if seconds.isdecimal() else 0
            except (OSError, http.client.HTTPException):
                pass
            # Not now, or nobody knows whether it arrived: the same again. JISS counts a session once.
            time.sleep(min(retry_after + wait * (0.5 + random.random() / 2), LONGEST_WAIT_SECONDS))
            wait = min(wait * 2, LONGEST_WAIT_SECONDS)


# ---- the desk -------------------------------------------------------------------------------------------------


class Desk:
    def __init__(self, library, outbox):
        self.library = library
        self.outbox = outbox
        self.ledger = []
        self.lock = threading.Lock()
        self.items = {}
        # The case on each reviewer's screen.
        self.open = {}
        # The live case of each reviewer that comes after the probe on the screen.
        self.held = {}
        # One lock for each reviewer: two windows of one reviewer show the same case.
        self.asking = {}
        # Sessions of the probes that were shown.
        self.shown = set()
        self.labels = 0

    def next(self, reviewer):
        """The case that a reviewer decides next. The same until it is decided."""
        with self.lock:
            asking = self.asking.setdefault(reviewer, threading.Lock())
        with asking:
            with self.lock:
                if reviewer in self.open:
                    return self.open[reviewer]
                # Your queue of applications. This one never ends: it takes one of twelve, with other amounts.
                if reviewer not in self.held:
                    self.held[reviewer] = Item(reviewer, random.choice(self.library["cases"]), None)
                live = self.held[reviewer]
            # Before each case, also before one that comes after a probe: so both wait for JISS.
            item = self.probe_before(live) or live
            with self.lock:
                if item is live:
                    del self.held[reviewer]
                self.items[item.name] = item
                self.open[reviewer] = item
                return item

    def probe_before(self, live):
        drawn = self.draw(live)
        if drawn is None:
            return None
        with self.lock:
            # It was decided, and its score still waits in the outbox: JISS says the same probe until it has the score.
            if drawn["session_id"] in self.shown:
                return None
            self.shown.add(drawn["session_id"])
        for content in self.library["probes"]:
            if f"desk-{content['id']}" == drawn["probe_id"]:
                return Item(live.reviewer, content, drawn)
        # Somebody sealed it for another application: it cannot be shown here, so it must not get lost.
        self.outbox.add("POST", f"/v1/probes/{drawn['probe_id']}/recall", None)
        return None

    def draw(self, live):
        """Asks whether a probe is due before a live case."""
        request = {
            "operator_id": live.reviewer,
            "session_id": live.session,
            "domain": DOMAIN,
            "stakes": live.content["stakes"],
        }
        body = json.dumps(request).encode()
        for attempt in range(DRAW_ATTEMPTS):
            if attempt > 0:
                time.sleep(FIRST_WAIT_SECONDS)
            try:
                status, _, text = self.outbox.jiss.call("POST", "/v1/probes/draw", body, DRAW_TIMEOUT_SECONDS)
                if status == 200:
                    return json.loads(text)["probe"]
                # A limit of requests (429) lasts longer than anybody should wait.
                if status < 500:
                    break
            except (OSError, http.client.HTTPException):
                pass  # refused, cut, or too slow: once more
        # No answer means no probe: work goes on without JISS. It does not go unnoticed. Once the day's seed is open,
        # `jiss verify` computes which of the scored cases should have been drawn for, and counts those that were not
        # (PROBE_LEFT_OUT). If JISS drew one and only its answer was lost, nobody decides that probe: PROBE_LOST.
        print("no answer to a draw: the case is shown without one", file=sys.stderr, flush=True)
        return None

    def decide(self, reviewer, name, decision, amount, measurement):
        """Takes a decision. Returns the status to answer with."""
        with self.lock:
            item = self.items.get(name)
            if item is None or item.reviewer != reviewer:
                return 404
            if item.decided is not None:
                return 200 if item.decided == (decision, amount) else 409
            recommended = scaled(item.content["recommended"], item.percent)
            if amount == recommended:
                return 400
            interaction = {**measurement, "decision": decision, "scenario_type": item.content["stakes"]}
            if amount is not None:
                extent = abs(amount - recommended) / max(amount, recommended)
                interaction["modification_extent"] = extent
            interaction.update(truth_of(item, amount))
            if item.probe is None:
                execute(self.ledger, item, decision, amount)
            score = {
                "session_id": item.session,
                "operator_id": reviewer,
                "domain": DOMAIN,
                "interaction": interaction,
            }
            self.outbox.add("POST", "/v1/score", score, is_probe=item.probe is not None)
            item.decided = (decision, amount)
            del self.open[reviewer]
            return 200

    def next_month(self):
        """Invents what became of every third decision of the ledger that has no label yet. Returns how many got one."""
        with self.lock:
            unknown = [line for line in self.ledger if not line["labelled"] and line["decision"] != "escalated"]
            known = unknown[::3]
            for line in known:
                line["labelled"] = True
                self.labels += 1
                ai_correct = self.labels % 4 != 0
                # What was changed turned out well; what was rejected is right if the AI was wrong.
                outcome = line["decision"] == "modified" or (line["decision"] == "accepted") == ai_correct
                label = {"outcome_correct": outcome, "ai_correct": ai_correct}
                self.outbox.add("POST", f"/v1/score/{line['session_id']}/commit", label)
            return len(known)


def truth_of(item, amount):
    """What JISS cannot know of a probe by itself: whether a changed amount is right."""
    if item.probe is None:
        return {}
    fields = {"probe_ticket": item.probe["ticket"]}
    if amount is not None:
        truth = item.content["truth"]
        fields["outcome_correct"] = (
            scaled(truth["from"], item.percent) <= amount <= scaled(truth["to"], item.percent)
        )
    return fields


def scaled(amount, percent):
    """Amounts of the library are multiples of 20, so that this is exact."""
    return amount * percent // 100


def shown_to(item):
    """What the browser gets of a case: no truth, no session, no ticket, no name of the library."""
    content = item.content

    def amount(name):
        return scaled(content[name], item.percent)

    def text(line):
        return re.sub(r"\{(\d+)\}", lambda found: f"{scaled(int(found[1]), item.percent):,}", line)

    return {
        "case": item.name,
        "content": {
            "purpose": content["purpose"],
            "asked": amount("asked"),
            "months": content["months"],
            "income": amount("income"),
            "housing": amount("housing"),
            "other": amount("other"),
            "employment": content["employment"],
            "statement": [text(line) for line in content["statement"]],
            "bureau": text(content["bureau"]),
            "recommended": amount("recommended"),
            "reason": content["reason"],
        },
    }


# ---- what the browser sends -----------------------------------------------------------------------------------


def is_number(value, most):
    return type(value) in (int, float) and 0 <= value <= most


def is_count(value, most):
    return is_number(value, most) and value == int(value)


def read_decision(sent):
    """Checks a decision as any input. Returns None if something in it is wrong."""
    name, decision, amount = sent.get("case"), sent.get("decision"), sent.get("amount")
    measurement = read_measurement(sent.get("measurement"))
    if not isinstance(name, str) or measurement is None:
        return None
    if not isinstance(decision, str) or decision not in DECISIONS:
        return None
    if not is_count(amount, LARGEST_AMOUNT) if decision == "modified" else amount is not None:
        return None
    return name, decision, amount, measurement


def read_measurement(sent):
    """The four figures of the collector; None is "not measured" and stays None."""
    if not isinstance(sent, dict):
        return None
    time_ms, hovers = sent.get("time_to_decision_ms"), sent.get("hover_events")
    depth, views = sent.get("scroll_depth"), sent.get("alternative_views_checked")
    if not is_number(time_ms, 86_400_000):
        return None
    if hovers is not None and not is_count(hovers, 100_000):
        return None
    if depth is not None and not is_number(depth, 1):
        return None
    if views is not None and not is_count(views, 100_000):
        return None
    return {
        "time_to_decision_ms": time_ms,
        "hover_events": hovers,
        "scroll_depth": depth,
        "alternative_views_checked": views,
    }


REFUSALS = {
    400: "the request is not valid",
    401: "sign in first",
    404: "there is no such case or path",
    409: "the case was decided otherwise",
}


class Page(BaseHTTPRequestHandler):
    """The page, and the calls of its script."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    desk = None
    events = None
    html = script = b""
    policy = ""
    # Who is signed in. Yours is the login that you have: JISS must get the reviewer from the server's session.
    signed_in = {}

    def do_GET(self):
        if self.path == "/":
            return self.file("text/html", self.html)
        if self.path == "/review.js":
            return self.file("text/javascript", self.script)
        # The back office's. Reviewers must not see these: what the ledger does not hold was a probe.
        if self.path == "/ledger":
            return self.answer(200, {"decisions": self.desk.ledger})
        if self.path == "/events":
            return self.answer(200, {"events": self.events})
        if self.path == "/outbox":
            outbox = self.desk.outbox
            return self.answer(200, {"waiting": len(outbox.waiting), "set_aside": outbox.set_aside})
        return self.refuse(404)

    def do_POST(self):
        sent = self.read_object()
        if sent is None:
            return self.refuse(400)
        if self.path == "/next-month":
            return self.answer(200, {"labelled": self.desk.next_month()})
        if self.path == "/api/sign-in":
            reviewer = sent.get("reviewer")
            if not isinstance(reviewer, str) or not re.fullmatch("[a-z0-9-]{1,40}", reviewer):
                return self.refuse(400)
            token = secrets.token_hex(16)
            self.signed_in[token] = reviewer
            cookie = f"desk={token}; HttpOnly; SameSite=Strict; Path=/"
            return self.answer(200, {}, {"Set-Cookie": cookie})
        found = re.search("(?:^|; )desk=([0-9a-f]{32})(?:;|$)", self.headers.get("Cookie", ""))
        reviewer = self.signed_in.get(found[1] if found else "")
        if reviewer is None:
            return self.refuse(401)
        if self.path == "/api/next":
            began = time.monotonic()
            item = self.desk.next(reviewer)
            time.sleep(max(0, began + CASE_AFTER_SECONDS - time.monotonic()))
            return self.answer(200, shown_to(item), size=CASE_BYTES)
        if self.path != "/api/decisions":
            return self.refuse(404)
        decision = read_decision(sent)
        if decision is None:
            return self.refuse(400)
        status = self.desk.decide(reviewer, *decision)
        return self.answer(200, {"saved": True}) if status == 200 else self.refuse(status)

    def do_PUT(self):
        self.read_object()
        self.refuse(404)

    do_PATCH = do_DELETE = do_PUT

    def read_object(self):
        """The JSON object that was sent; None if it is none."""
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,6}", length):
            # What was not read would be taken for the next request.
            self.close_connection = True
            return None
        body = self.rfile.read(int(length))
        if self.headers.get("Content-Type") != "application/json" or len(body) > BODY_BYTES:
            return None
        try:
            sent = json.loads(body)
        except ValueError:
            return None
        return sent if isinstance(sent, dict) else None

    def refuse(self, status):
        self.answer(status, {"error": REFUSALS[status]})

    def file(self, kind, body):
        headers = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Security-Policy": self.policy,
            "Cache-Control": "no-cache",
        }
        self.write(200, headers, body)

    def answer(self, status, value, headers=None, size=0):
        """
        An answer in JSON. `size`: its size, made up with spaces. A proxy that compresses would undo that:
        `no-transform`.
        """
        text = json.dumps(value, separators=(",", ":")).encode()
        if size > 0 and len(text) > size:
            raise RuntimeError("a case of the library is too long")
        common = {"Content-Type": "application/json", "Cache-Control": "no-store, no-transform"}
        self.write(status, {**common, **(headers or {})}, text.ljust(size))

    def write(self, status, headers, body):
        self.send_response(status)
        for name, value in {**headers, "X-Content-Type-Options": "nosniff"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def prepare_page(desk, events):
    url = desk.outbox.jiss.url
    html = (HERE / "page.html").read_text("utf-8").replace("{{JISS_URL}}", url)
    style = re.search("<style>(.*?)</style>", html, re.DOTALL)[1].encode()
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
    Page.desk = desk
    Page.events = events
    Page.html = html.encode()
    Page.script = (HERE / "review.js").read_bytes()
    Page.policy = (
        f"default-src 'none'; script-src 'self' {url}; connect-src 'self'; img-src data:; "
        f"style-src 'sha256-{digest}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )


# ---- webhooks -------------------------------------------------------------------------------------------------


def register_webhook(jiss, url):
    """Registers the receiver anew: only a new registration tells the secret, which is returned."""

    def ask(method, path, body=None):
        sent = None if body is None else json.dumps(body).encode()
        status, _, text = jiss.call(method, f"/v1/admin/webhook/{path}", sent, SEND_TIMEOUT_SECONDS)
        if status >= 300:
            raise RuntimeError(f"JISS refused the webhook with {status}: {text}")
        return json.loads(text) if text else None

    for known in ask("GET", "list")["webhooks"]:
        if known["url"] == url:
            ask("DELETE", known["id"])
    registered = ask("POST", "register", {"url": url, "secret": secrets.token_hex(16)})
    return registered["signing_secret"]


class Receiver(BaseHTTPRequestHandler):
    """Takes deliveries of JISS, checks who sent them, and keeps the newest events."""

    timeout = 10
    secret = ""
    events = None
    taken = set()
    lock = threading.Lock()

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        status = 400
        if re.fullmatch("[0-9]{1,7}", length) and int(length) <= WEBHOOK_BYTES:
            try:
                status = self.receive(self.rfile.read(int(length)))
            except Exception:
                traceback.print_exc()
                status = 500
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def receive(self, body):
        """The status to answer with."""
        timestamp = self.headers.get("X-SERVICE-Timestamp", "")
        id = self.headers.get("X-SERVICE-Idempotency-Key", "")
        if not re.fullmatch("[0-9]{1,15}", timestamp) or id == "":
            return 400
        if abs(time.time() - int(timestamp)) > WEBHOOK_TOLERANCE_SECONDS:
            return 401
        signed = timestamp.encode() + b"." + body
        expected = "sha256=" + hmac.new(self.secret.encode(), signed, hashlib.sha256).hexdigest()
        given = self.headers.get("X-SERVICE-Signature", "")
        if not hmac.compare_digest(given.encode(), expected.encode()):
            return 401
        told = json.loads(body)
        if told["delivery_id"] != id:
            return 400
        with self.lock:
            if id in self.taken:
                return 200
            self.taken.add(id)
            names = ("event", "session_id", "operator_id", "timestamp")
            self.events.insert(0, {name: told.get(name) for name in names})
            del self.events[EVENTS_KEPT:]
        return 204

    def log_message(self, *_):
        pass


def serve_hook(hook, secret, events, certificate):
    Receiver.secret = secret
    Receiver.events = events
    server = ThreadingHTTPServer((hook.hostname, hook.port or 443), Receiver)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    # Each connection's own thread does its handshake, so that a slow one holds up nobody.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


# ---- the start ------------------------------------------------------------------------------------------------


def options_of(arguments):
    """The values of the options of the command line."""
    options = dict(zip(arguments[::2], arguments[1::2]))
    if len(arguments) % 2 or not set(options) <= {"--programme", "--hook", "--cert", "--key"}:
        print("usage: server.py [--programme RATE] [--hook URL --cert FILE --key FILE]", file=sys.stderr)
        sys.exit(2)
    return options


def main():
    options = options_of(sys.argv[1:])
    parts = urllib.parse.urlsplit(os.environ.get("DESK_JISS_URL") or "http://127.0.0.1:8080")
    jiss = Jiss(f"{parts.scheme}://{parts.netloc}", os.environ.get("DESK_API_KEY", ""))
    if jiss.key == "":
        print("DESK_API_KEY is missing: it is the key of your organization", file=sys.stderr)
        sys.exit(2)
    library = json.loads((HERE / "library.json").read_text("utf-8"))
    outbox = Outbox(jiss)
    events = []
    desk = Desk(library, outbox)

    # First of all, and from the outbox, so that the desk starts without JISS. A name that was sealed before is a 409, and stays as it is.
    for content in library["probes"]:
        outbox.add(
            "POST",
            SEALING,
            {
                "probe_id": f"desk-{content['id']}",
                "domain": DOMAIN,
                "stakes": content["stakes"],
                "ai_correct": content["truth"]["ai_correct"],
                "reference": f"review-desk/{content['id']}",
            },
        )
    # Whether there is a programme is the organization's decision: the desk sets the policy only if it is told to.
    if "--programme" in options:
        rate = float(options["--programme"])
        policy = {"enabled": True, "rate": rate, "highest_share": 0.1, "minimum": 12, "ticket_minutes": 240}
        outbox.add("PUT", "/v1/probes/policy", policy)

    if "--hook" in options:
        hook = urllib.parse.urlsplit(options["--hook"])
        secret = register_webhook(jiss, options["--hook"])
        serve_hook(hook, secret, events, (options["--cert"], options["--key"]))
    prepare_page(desk, events)
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT") or 8090)), Page)
    print(f"review desk at http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
