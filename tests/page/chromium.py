"""A headless Chromium driven over a pipe by the DevTools protocol: what a page logs, asks for and shows.

    with Chromium() as browser:
        page = browser.open("report.html", width=390, dark=True)
        page.complaints, page.requests, page.evaluate("document.title")
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium")
# A container has no user to drop to and little shared memory.
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe")
PATIENCE = 120  # seconds; a loaded machine is slow, a browser that hangs is a failure


class Chromium:
    def __init__(self):
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if program is None:
            raise SystemExit("no Chromium to open pages with; install it by: scripts/setup --tests")
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        reads, self._to = os.pipe()
        self._from, writes = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in (reads, writes)]
        self._process = subprocess.Popen([program, *FLAGS, f"--user-data-dir={self._folder.name}"], close_fds=False,
                                         stderr=subprocess.DEVNULL,
                                         preexec_fn=lambda: (os.dup2(ends[0], 3), os.dup2(ends[1], 4)))
        for end in (reads, writes, *ends):
            os.close(end)
        self._rest, self._number, self.listeners = b"", 0, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()

    def _receive(self, deadline):
        while b"\0" not in self._rest:
            if not select.select([self._from], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            data = os.read(self._from, 1 << 20)
            if not data:
                raise ConnectionError("Chromium ended")
            self._rest += data
        message, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(message)
        if "method" in message and message.get("sessionId") in self.listeners:
            self.listeners[message["sessionId"]](message["method"], message["params"])
        return message

    def call(self, method, session=None, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        data = json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data):]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def wait_until(self, done):
        deadline = time.monotonic() + PATIENCE
        while not done():
            self._receive(deadline)

    def open(self, path, width=1280, height=900, dark=False):
        return Page(self, os.path.abspath(path), width, height, dark)


class Page:
    """An open page. `complaints`: errors and warnings of the console, exceptions, breaches of the policy, dialogs."""

    def __init__(self, browser, path, width, height, dark):
        self._browser, self.width, self.complaints, self.requests, self._loaded = browser, width, [], [], False
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.listeners[self._session] = self._heard
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.colour_scheme(dark)
        began = time.monotonic()
        self.call("Page.navigate", url=f"file://{path}")
        browser.wait_until(lambda: self._loaded)
        self.settle()
        self.opened_in = time.monotonic() - began

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def _heard(self, method, event):
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(event["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append(event["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("dialog: " + event["message"])

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def settle(self):
        """Until two frames were painted: what came into view is drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")

    def colour_scheme(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def close(self):
        self.call("Page.close")

    def screenshot(self, path, full=True):
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=full, **(
            {"clip": {"x": 0, "y": 0, "scale": 1} | self.call("Page.getLayoutMetrics")["cssContentSize"]} if full else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
