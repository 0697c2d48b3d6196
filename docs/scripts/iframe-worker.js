// The search of the site works in a background script, which browsers do not start for pages opened from disk. There a
// hidden frame does the same work. Material asks for a script of this name and would load one from the network.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = data => {
        const told = new MessageEvent("message", {data})
        this.dispatchEvent(told)
        if (this.onmessage) this.onmessage(told)
      }
      this.ready = new Promise(done => {
        const script = inside.document.createElement("script")
        script.src = new URL(address, document.baseURI)
        script.onload = done
        inside.document.body.append(script)
      })
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data})))
    }
    terminate() {
      this.frame.remove()
    }
  }
