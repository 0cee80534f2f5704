// Sends through the sender process: one line in, one answer out; whatever was asked of a process that ended is unknown.
import type { Channel, Sent } from './channels.ts'

export interface LineChannel extends Channel {
  /** A new process reads from now on; lines that the last one has not answered stay unknown. */
  attach(write: (text: string) => void): void
  /** What the process of now wrote to stdout. */
  heard(text: string): void
}

const ANSWER_MAX_MS = 8_000

interface LineAnswer {
  readonly line: number
  readonly error?: { readonly code: string; readonly kind?: string }
}

/** Refusals after which nothing is stored; every other error may have come after the commit. */
const FINAL = /INVALID|CONFLICT|MISMATCH|ENDED|AMBIGUOUS/

export function createLineChannel(): LineChannel {
  let write: ((text: string) => void) | undefined
  let line = 0
  let rest = ''
  const asked = new Map<number, (sent: Sent) => void>()

  function forget(): void {
    for (const answer of asked.values()) answer({ what: 'info', code: 'unanswered' })
    asked.clear()
    line = 0
    rest = ''
  }

  return {
    attach(next) {
      forget()
      write = next
    },
    heard(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const each of lines.filter((one) => one.startsWith('{"line":'))) {
        const { line: number, error } = JSON.parse(each) as LineAnswer
        const answer = asked.get(number)
        asked.delete(number)
        if (error === undefined) answer?.({ what: 'ok' })
        else answer?.({ what: FINAL.test(error.code) ? 'fail' : 'info', code: error.code })
      }
    },
    async send({ state, target, constraints }) {
      if (write === undefined) return { what: 'info', code: 'unanswered' }
      line += 1
      const number = line
      const answer = new Promise<Sent>((resolve) => {
        asked.set(number, resolve)
        setTimeout(() => {
          asked.delete(number)
          resolve({ what: 'info', code: 'unanswered' })
        }, ANSWER_MAX_MS).unref()
      })
      write(`${JSON.stringify({ agentState: state, targetAgentType: target, constraints })}\n`)
      return await answer
    },
  }
}
