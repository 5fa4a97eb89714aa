#!/usr/bin/env python3
"""A service that makes reports: it accepts a task at once, and calls back while it works and when it is done.

    python3 report_service.py [PORT]        8099 if none is given

It needs nothing but Python. What it keeps in memory, a real service keeps in a database.
"""

import json
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8099
progress_of = {}


def tell(task, status, **more):
    """Calls back. The address holds the credential, so there is no other."""
    body = json.dumps({"status": status, **more}).encode()
    request = urllib.request.Request(
        task["callbackUrl"], data=body, method="PUT", headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.status


def work(task):
    name = task["executionId"]
    departments = task["taskPayload"]["departments"]
    for done, department in enumerate(departments):
        progress_of[name] = 100 * done // len(departments)
        tell(task, "processing", progress=progress_of[name], progressMessage=f"reading {department}")
        time.sleep(0.2)
    progress_of[name] = 100
    tell(
        task,
        "success",
        progress=100,
        progressMessage="the report is ready",
        result={"file": f"{name}.{task['taskPayload']['outputFormat']}", "departments": len(departments)},
    )


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        task = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        threading.Thread(target=work, args=(task,), daemon=True).start()
        # The answer may say how to ask about the task later.
        url = f"http://127.0.0.1:{PORT}/reports/{task['executionId']}"
        self.answer(202, {"accepted": True, "queryConfig": {"type": "http", "config": {"url": url, "method": "GET"}}})

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        if name not in progress_of:
            return self.answer(404, {"error": "unknown"})
        self.answer(200, {"progress": progress_of[name]})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Service)
    PORT = server.server_address[1]
    print(f"reports are made at http://127.0.0.1:{PORT}/reports", flush=True)
    server.serve_forever()
