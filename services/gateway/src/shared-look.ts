// Who waits until rows change: one look at the database serves all of them, and none is taken while nobody waits.
import { every } from '@baton/runtime'
import type { Service } from '@baton/runtime'

export interface SharedLook<Asked, Found> extends Service {
  /** Resolves with what a look found for this one; with nothing once `withinMs` have passed, or `signal` aborts. */
  moved(asked: Asked, wait: Wait): Promise<Found | undefined>
}

interface Wait {
  readonly signal: AbortSignal
  readonly withinMs: number
}

interface LookParts<Asked, Found> {
  readonly name: string
  readonly everyMs: number
  /** Looks once for all of them, and answers what each is told: nothing to whoever waits on. */
  look(all: readonly Asked[]): Promise<(asked: Asked) => Found | undefined>
  failed(error: unknown): void
}

interface Waiting<Asked, Found> {
  readonly asked: Asked
  readonly tell: (found?: Found) => void
}

export function createSharedLook<Asked, Found>(
  parts: LookParts<Asked, Found>,
): SharedLook<Asked, Found> {
  const waiting = new Set<Waiting<Asked, Found>>()
  const looks = every({
    name: parts.name,
    everyMs: parts.everyMs,
    async run() {
      if (waiting.size === 0) return Infinity
      const all = [...waiting]
      const foundFor = await parts.look(all.map(({ asked }) => asked))
      for (const { asked, tell } of all) {
        const found = foundFor(asked)
        if (found !== undefined) tell(found)
      }
      return undefined
    },
    failed: (error) => parts.failed(error),
  })
  return {
    name: parts.name,
    start: looks.start,
    stop: looks.stop,
    moved: (asked, { signal, withinMs }) =>
      new Promise((resolve) => {
        const one: Waiting<Asked, Found> = { asked, tell }
        const timer = setTimeout(tell, withinMs)
        const gone = () => tell()
        function tell(found?: Found): void {
          clearTimeout(timer)
          signal.removeEventListener('abort', gone)
          waiting.delete(one)
          resolve(found)
        }
        waiting.add(one)
        signal.addEventListener('abort', gone)
        if (signal.aborted) tell()
        else if (waiting.size === 1) looks.wake()
      }),
  }
}
