// Supervision of a server that several commands share: it is nobody's child, so it is looked at; one that is silent is named, and left as it is.
import { readFile } from 'node:fs/promises'
import { isAlive } from '@baton/infra/lock'
import { machineTrouble } from '@baton/infra/machine-trouble'
import type { Engine, Membership, ServerProcess } from './shared-instance.ts'
import { supervise } from './supervise.ts'
import type { End, Lifetime, Supervision, SupervisionEvent } from './supervise.ts'

/** What is told of a server, besides. */
export type ServerEvent =
  | SupervisionEvent
  | { readonly kind: 'answers'; readonly name: string; readonly pid: number }
  | {
      readonly kind: 'silent'
      readonly name: string
      readonly pid: number
      /** The last that it said. */
      readonly words: string
    }

export type ServerNotify = (event: ServerEvent) => void

const LOOK_EVERY_MS = 250
const ASK_EVERY_MS = 3_000
/** A machine that is busy for a moment is no silence. */
const MISSED_MAX = 2
const LINES = 16

/** Supervises the server of a membership until `stop`, which is to be called before the membership ends. */
export function superviseServer<Details extends ServerProcess>(
  membership: Membership<Details>,
  engine: Engine<Details>,
  notify: ServerNotify,
): Supervision {
  const stopping = new AbortController()
  const name = engine.title
  const logPath = engine.logOf(membership.details)
  const obstacle = ({ words }: End) => {
    const trouble = machineTrouble(words)
    return trouble && `${trouble.message}. ${trouble.fix}`
  }

  function lifetimeOf(details: Details): Lifetime {
    const { pid } = details
    const ended = new Promise<End>((resolve) => {
      const look = setInterval(() => {
        if (isAlive(details)) return
        stop()
        void lastLines(logPath).then((words) => resolve({ how: `process ${pid} is gone`, words }))
      }, LOOK_EVERY_MS)
      const asking = askWhetherSilent(details)
      const stop = () => {
        clearInterval(look)
        clearInterval(asking)
      }
      stopping.signal.addEventListener('abort', stop, { once: true })
      look.unref()
    })
    return { pid, ended }
  }

  function askWhetherSilent(details: Details): NodeJS.Timeout {
    const { pid } = details
    let isSilent = false
    let missed = 0
    let isAsking = false
    return setInterval(() => {
      if (isAsking) return
      isAsking = true
      void engine.answers(details).then((answers) => {
        isAsking = false
        missed = answers ? 0 : missed + 1
        if (stopping.signal.aborted || answers === !isSilent || !isAlive(details)) return
        if (!answers && missed < MISSED_MAX) return
        isSilent = !answers
        if (answers) notify({ kind: 'answers', name, pid })
        else void lastLines(logPath).then((words) => notify({ kind: 'silent', name, pid, words }))
      })
    }, ASK_EVERY_MS).unref()
  }

  return supervise(
    { name, logPath, obstacle, start: async () => lifetimeOf(await membership.revive()) },
    lifetimeOf(membership.details),
    { notify, stopping },
  )
}

/** Lines that can say why a server ended; that its children saw it go says nothing. */
const TELLING = /PANIC|FATAL|\bfatal\b|No space left|out of memory|Can't|could not/
const NOT_TELLING = /unexpected postmaster exit|terminating connection|the database system is/

async function lastLines(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const lines = text.trimEnd().split('\n').slice(-LINES)
  return lines.filter((line) => TELLING.test(line) && !NOT_TELLING.test(line)).join('\n')
}
