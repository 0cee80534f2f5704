// What a person is told of supervised processes, one line for each thing that happens, and what is left of them.
import type { End, ServerEvent } from '@baton/embedded'
import { machineTrouble } from '@baton/embedded'
import { transient } from '@baton/runtime'
import type { BatonError, Logger } from '@baton/runtime'
import type { Mark, Output } from '../terminal/output.ts'

export interface Told {
  readonly mark: Mark
  readonly label: string
  readonly text: string
}

const RULE = 'within a minute'
const SHOWN_MAX = 200

/** One line, but for the last words of what is left. */
export function describeEvent(event: ServerEvent): Told {
  const { name } = event
  const line = (mark: Mark, text: string): Told => ({ mark, label: name.toLowerCase(), text })
  switch (event.kind) {
    case 'ended': {
      if (event.obstacle !== undefined)
        return line('failed', `ended: ${event.obstacle} It is tried again until it runs.`)
      return line(
        'failed',
        `ended (${causeOf(event.end)}); starts again in ${seconds(event.waitMs)}`,
      )
    }
    case 'restarted':
      return line('passed', `runs again: process ${event.pid}, start ${event.restarts + 1}`)
    case 'left':
      return line(
        'failed',
        `${keepsEnding(event)}; the rest goes on.${wordsOf(event.end)}\n    ${mend(event)}`,
      )
    case 'silent': {
      const trouble = machineTrouble(event.words)
      if (trouble)
        return line(
          'unknown',
          `process ${event.pid} refuses work: ${trouble.message}. ${trouble.fix}`,
        )
      return line(
        'unknown',
        `process ${event.pid} does not answer. Work waits and nothing is ended; \`kill -CONT ${event.pid}\` wakes it where it is paused.`,
      )
    }
    case 'answers':
      return line('passed', `process ${event.pid} answers again`)
  }
}

type Left = Extract<ServerEvent, { kind: 'left' }>

const keepsEnding = ({ end, endings }: Pick<Left, 'end' | 'endings'>): string =>
  `ended ${endings} times ${RULE} (${causeOf(end)}) and is left`

const mend = ({ logPath }: Left): string =>
  `Mend what ${logPath} names, then run this command again.`

const wordsOf = ({ words }: End): string =>
  words === '' ? '' : ` Its last words:\n    ${words.replaceAll('\n', '\n    ')}`

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

/** How it ended, and the reason where it said one. */
function causeOf({ how, words }: End): string {
  if (how === 'SIGKILL') return 'SIGKILL: by somebody, or by the system for want of memory'
  const [first = ''] = words.split('\n')
  const why = machineTrouble(words)?.message ?? (first.startsWith('{') ? '' : first)
  return why === '' ? how : `${how}: ${why.trim().slice(0, SHOWN_MAX)}`
}

/** A database or queue that is away, or a machine that has no room: the process itself is not at fault. */
export function obstacleOf({ words }: End): string | undefined {
  const away = /^BATON_\w+_UNAVAILABLE: .*$/m.exec(words)?.[0]
  if (away !== undefined) return `${away}.`
  // That a program has used up its own memory is nobody else's fault.
  if (words.includes('heap out of memory')) return undefined
  const trouble = machineTrouble(words)
  return trouble && `${trouble.message}. ${trouble.fix}`
}

export interface Watch {
  readonly notify: (event: ServerEvent) => void
  /** Names what keeps ending and was left. */
  left(): readonly string[]
  /** Rejects with BATON_SERVICE_LEFT when one of them that counts is left. */
  whenLeft(counts?: (name: string) => boolean): Promise<never>
}

/** Tells the person and the log, and remembers who was left; `changed` is called when there is something to write down. */
export function createWatch(
  { output, logger }: { readonly output: Output; readonly logger: Logger },
  changed: () => void,
): Watch {
  const left = new Map<string, BatonError>()
  const listeners = new Set<() => void>()

  function notify(event: ServerEvent): void {
    const { mark, label, text } = describeEvent(event)
    output.step(mark, label, text)
    const { kind, name } = event
    const pid = 'pid' in event ? event.pid : undefined
    logger.warn({ event: 'supervision.changed', kind, name, pid })
    if (event.kind === 'left') left.set(name, serviceLeft(event))
    changed()
    for (const listener of listeners) listener()
  }

  return {
    notify,
    left: () => [...left.keys()],
    whenLeft(counts = () => true) {
      const { promise, reject } = Promise.withResolvers<never>()
      const look = () => {
        for (const [name, error] of left) if (counts(name)) reject(error)
      }
      promise.catch(() => undefined)
      listeners.add(look)
      look()
      return promise
    },
  }
}

const serviceLeft = (event: Left) =>
  transient('BATON_SERVICE_LEFT', `the ${event.name} ${keepsEnding(event)}`, { fix: mend(event) })
