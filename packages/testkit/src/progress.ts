// What the test servers say while they start: only trouble, and on stderr.
const say = (event: unknown) => {
  process.stderr.write(`testkit: ${JSON.stringify(event)}\n`)
}

export const quietLogger = { info: () => undefined, warn: say }
