// The search of the site, opened as files: there no browser starts a worker, so it runs in a frame.
"use strict";
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.body.append(frame);
      const inside = this.inside = frame.contentWindow;
      const load = (source) => new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src: source, onload: done, onerror: failed });
        inside.document.body.append(script);
      });
      inside.postMessage = (data) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        this.onmessage?.(message);
      };
      inside.importScripts = (...sources) => Promise.all(sources.map(load));
      this.started = load(url);
    }

    postMessage(data) {
      this.started.then(() => {
        this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      });
    }
  };
}
