// A browser refuses a worker to a page that is opened from the disk. There, this stands in for one: the script runs in
// a hidden frame instead. The theme's search asks for the name IFrameWorker in the parent to know where it runs.
(() => {
  if (location.protocol !== "file:") return;
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame;
      this.ready = new Promise((done) => {
        const inside = frame.contentDocument;
        inside.open();
        inside.write("<!doctype html><title>worker</title>");
        inside.close();
        frame.contentWindow.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        frame.contentWindow.importScripts = (...names) =>
          Promise.all(names.map((name) => load(inside, name))).then(() => undefined);
        load(inside, url).then(done);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  }
  function load(inside, name) {
    return new Promise((done, failed) => {
      const script = inside.createElement("script");
      script.src = name;
      script.onload = done;
      script.onerror = failed;
      inside.body.append(script);
    });
  }
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
})();
