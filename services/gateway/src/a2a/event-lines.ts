// Events of a stream as lines of text/event-stream, with a sign of life while nothing happens.
import { setTimeout as sleep } from 'node:timers/promises'

interface Lines {
  /** What was already taken from the events. */
  readonly first: IteratorResult<unknown, void>
  readonly events: AsyncGenerator<unknown, void, undefined>
  readonly format: (value: unknown) => object
  /** What is said of an error that ends it. */
  readonly refuse: (error: unknown) => Promise<object>
}

const HEARTBEAT_MS = 15_000
const BEAT = Symbol('still here')

/** Takes no event before the one before it was taken: nothing waits in memory. */
export async function* eventLines({
  first,
  events,
  format,
  refuse,
}: Lines): AsyncGenerator<string> {
  let result = first
  try {
    while (result.done !== true) {
      yield `data: ${JSON.stringify(format(result.value))}\n\n`
      const next = events.next()
      for (;;) {
        const timer = new AbortController()
        const beat = sleep(HEARTBEAT_MS, BEAT, { signal: timer.signal, ref: false })
        const told = await Promise.race([next, beat.catch(() => BEAT)])
        timer.abort()
        if (told !== BEAT) {
          result = told as IteratorResult<unknown, void>
          break
        }
        yield ': still here\n\n'
      }
    }
  } catch (error) {
    yield `event: error\ndata: ${JSON.stringify(await refuse(error))}\n\n`
  } finally {
    await events.return()
  }
}
