// The first process of a container is ended by no signal that it does not handle: this handles them from the first moment on.
const EXIT_CODES = { SIGTERM: 143, SIGINT: 130 }

/** Ends the process at once by a signal that nobody else handles yet: nothing is under way then. It never stops listening, because with the last listener Node stops hearing the signal. */
export function endUntilHandled() {
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(code)
    })
  }
}
