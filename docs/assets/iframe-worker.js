/* Browsers refuse workers to pages opened from disk. There, run the worker's script in a hidden frame
   instead, so that the search works without a server. */
if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inner = this.frame.contentWindow
      inner.postMessage = data => setTimeout(() => this.receive(data))
      inner.importScripts = (...urls) => Promise.all(urls.map(source => this.run(source)))
      this.run(new URL(url, location.href).href).then(() => {
        const messages = this.waiting
        this.waiting = null
        messages.forEach(data => this.send(data))
      })
    }

    run(source) {
      return new Promise((done, failed) => {
        const inner = this.frame.contentDocument
        const script = inner.createElement("script")
        script.src = source
        script.onload = done
        script.onerror = failed
        inner.head.append(script)
      })
    }

    send(data) {
      const inner = this.frame.contentWindow
      const event = new inner.MessageEvent("message", { data })
      inner.dispatchEvent(event)
    }

    receive(data) {
      const event = new MessageEvent("message", { data })
      this.dispatchEvent(event)
      if (this.onmessage) this.onmessage(event)
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.send(data)
    }

    terminate() {
      this.frame.remove()
    }
  }

  window.IFrameWorker = FrameWorker
  window.Worker = FrameWorker
}
