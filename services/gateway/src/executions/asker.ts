// Somebody who asks for work and waits: until there is some, until its time is over, or until nobody waits any more.
import type { Given } from '@baton/engine'
import type { AgentRegistration } from '@baton/protocol'

export interface Asking {
  readonly agent: AgentRegistration
  /** The operator of the API key. */
  readonly takenBy: string
  readonly max: number
  readonly waitMs: number
  /** Aborts when nobody waits for the answer any more. */
  readonly gone: AbortSignal
}

export interface Asker extends Asking {
  /** How many more it takes now. */
  readonly free: number
  /** What it was given so far. */
  readonly given: Given[]
  /** Resolves with what it was given, once nothing of it is under way. */
  readonly done: Promise<readonly Given[]>
  /** A handoff is being received for it. */
  receiving(): void
  /** It was given away, or was somebody else's or refused: then the next one may do. */
  received(wasGiven: boolean): void
  /** Takes nothing more. */
  close(): void
}

/** After the first one, others that come within this time go along. */
const COMPANY_MS = 5
/** What a queue holds is here in less; so long is waited where nobody wants to wait. */
const WAIT_MIN_MS = 100

export function openAsker(asking: Asking): Asker {
  const given: Given[] = []
  const { promise: done, resolve } = Promise.withResolvers<readonly Given[]>()
  let free = asking.max
  let underWay = 0
  let closed = false
  let company: NodeJS.Timeout | undefined
  const patience = setTimeout(close, Math.max(WAIT_MIN_MS, asking.waitMs))
  asking.gone.addEventListener('abort', close, { once: true })
  if (asking.gone.aborted) close()

  function close(): void {
    closed = true
    free = 0
    clearTimeout(patience)
    clearTimeout(company)
    if (underWay === 0) resolve(given)
  }

  return {
    ...asking,
    given,
    done,
    close,
    get free() {
      return free
    },
    receiving() {
      free -= 1
      underWay += 1
    },
    received(wasGiven) {
      underWay -= 1
      if (closed || given.length >= asking.max) return close()
      if (wasGiven) company ??= setTimeout(close, COMPANY_MS)
      else free += 1
    },
  }
}
